"""The model to documents and back: one module a section of FORMAT.md."""
