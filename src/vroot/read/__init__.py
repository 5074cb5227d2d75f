"""The engine: columns and an entry range to a plan, fetched and decoded into outputs."""
