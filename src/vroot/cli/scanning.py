"""`vroot scan`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import vroot
from vroot.cli.printing import (
    EXIT_ERROR,
    EXIT_OK,
    OutputClosedError,
    complain,
    printable,
    write,
    write_json,
)
from vroot.exceptions import (
    OutputIsSourceError,
    VrootError,
)
from vroot.format.references import References, is_reference_name
from vroot.io.local import local_path
from vroot.io.urls import name_of
from vroot.locate.catalog import SIDECAR_SUFFIXES
from vroot.locate.paths import regularize_path, split_object_path
from vroot.metadata.interpretations import AsInstances, Unsupported
from vroot.metadata.specs import BranchSpec, DirectorySpec, ObjectSpec, Spec, TreeSpec
from vroot.scanner.outputs import check_outputs

__all__ = ["SIDECAR_SUFFIX", "scan"]

SIDECAR_SUFFIX = SIDECAR_SUFFIXES[0]
SUMMARY = (
    "{output}: trees {trees}, branches {branches}, baskets {baskets}, "
    "unsupported branches {unsupported_branches}, bytes {output_bytes}{left_out}\n"
)


def scan(args: argparse.Namespace) -> int:
    """Scan files into references."""
    code, summaries = EXIT_OK, []
    for source, output in zip(args.sources, _outputs(args), strict=True):
        try:
            with _progress_bar(Path(source).name, quiet=args.quiet) as progress:
                vroot.scan(
                    source,
                    output,
                    url=args.url,
                    inline_limit_bytes=args.inline_limit,
                    allow_truncated=args.allow_truncated,
                    progress=progress,
                )
            summary = _summary(source, output)
        except (VrootError, OSError) as error:
            if args.traceback:
                raise
            # One file that cannot be scanned does not keep the others from it.
            complain("error:", error)
            code = EXIT_ERROR
            continue
        summaries.append(summary)
        if not args.json:
            # Nor does a reader of the report who has gone away.
            with contextlib.suppress(OutputClosedError):
                shown = {"output": printable(output), "left_out": _left_out(summary)}
                write(SUMMARY.format(**summary | shown))
    if args.json:
        write_json(summaries)
    return code


def _outputs(args: argparse.Namespace) -> list[str]:
    """Decide where the references of each source go; wrong usage exits."""
    sources: list[str] = args.sources
    usage_error: Callable[[str], NoReturn] = args.parser.error
    if len(sources) > 1 and args.url is not None:
        usage_error(f"--url goes with one file, not with {len(sources)}")
    if args.output is None:
        outputs = []
        for source in sources:
            name, object_path = split_object_path(regularize_path(source))
            path = local_path(name)
            if path is None or object_path is not None or (":" in name and not path.exists()):
                usage_error(f"{source!r} is not a local file: say with -o where to write")
            outputs.append(f"{path}{SIDECAR_SUFFIX}")
    else:
        outputs = _given_outputs(args.output, sources, usage_error)
    twice = [output for output, times in Counter(outputs).items() if times > 1]
    if twice:
        usage_error(f"{twice[0]!r} would hold the references of several files")
    try:
        # Of all files before the first is scanned: the output of one may be another.
        check_outputs(
            map(Path, outputs), [split_object_path(regularize_path(each))[0] for each in sources]
        )
    except OutputIsSourceError as error:
        usage_error(printable(str(error)))
    return outputs


def _given_outputs(
    given: str, sources: Sequence[str], usage_error: Callable[[str], NoReturn]
) -> list[str]:
    """Decide where the references of each source go, from what -o says."""
    path = local_path(regularize_path(given))
    if path is None:
        usage_error(f"references are written to local files, not to {given!r}")
    if given.endswith(("/", os.sep)) or path.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        names = [name_of(split_object_path(regularize_path(each))[0]) for each in sources]
        return [str(path / (name + SIDECAR_SUFFIX)) for name in names]
    if len(sources) > 1:
        usage_error(f"-o must be a folder (DIR/) for {len(sources)} files")
    if not is_reference_name(path.name):
        usage_error(f"{given!r} must end in .json or .json.zst, or be a folder (DIR/)")
    return [str(path)]


@contextlib.contextmanager
def _progress_bar(name: str, *, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show a bar on a terminal, if rich is there; else give nothing to call."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich import console, markup, progress
    except ImportError:
        yield None
        return
    with progress.Progress(console=console.Console(stderr=True), transient=True) as bar:
        task = bar.add_task(markup.escape(printable(name)), total=None)

        def update(object_path: str, done: int, total: int) -> None:
            description = markup.escape(printable(f"{name}: {object_path}"))
            bar.update(task, description=description, completed=done, total=total)

        yield update


def _summary(source: str, output: str) -> dict[str, Any]:
    """Count what the references in `output` hold, and what they leave out."""
    specs = list(_specs(vroot.open(output).references))
    branches = [spec for spec in specs if isinstance(spec, BranchSpec)]
    objects = [spec for spec in specs if isinstance(spec, ObjectSpec)]
    return {
        "source": source,
        "output": output,
        "trees": sum(isinstance(spec, TreeSpec) for spec in specs),
        "branches": len(branches),
        "baskets": sum(len(branch.baskets) for branch in branches),
        "unsupported_branches": sum(
            isinstance(b.interpretation, Unsupported)
            and not isinstance(b.interpretation, AsInstances)
            for b in branches
        ),
        "objects": len(objects),
        "unsupported_objects": sum(spec.data is None for spec in objects),
        "output_bytes": Path(output).stat().st_size,
    }


def _specs(references: References, path: str = "") -> Iterator[Spec]:
    """Say what the nodes below a node are, to any depth."""
    for text in references.children(path):
        below = f"{path}/{text}" if path else text
        spec = references.spec(below)
        yield spec
        if isinstance(spec, DirectorySpec | TreeSpec | BranchSpec):
            yield from _specs(references, below)


def _left_out(summary: dict[str, Any]) -> str:
    """Say what is not in the store, if anything is not."""
    counts = {kind: summary[f"unsupported_{kind}"] for kind in ("branches", "objects")}
    words = ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
    return f"; not in the store: {words}" if words else ""
