"""How the bytes of a basket become arrays: a small tagged union of plain data."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec
import numpy as np

from vroot.metadata.dtypes import MAX_ITEMSIZE_BYTES, check_dtype, split_dtype
from vroot.metadata.flat import AsDtype
from vroot.metadata.interpretation_base import Base

__all__ = [
    "AsBits",
    "AsDouble32",
    "AsDtype",
    "AsFloat16",
    "AsGroup",
    "AsGrouped",
    "AsInline",
    "AsInstances",
    "AsJagged",
    "AsObjects",
    "AsStridedObjects",
    "AsStrings",
    "Interpretation",
    "Numerical",
    "Program",
    "Unsupported",
]

MAX_DIMENSIONS = 32


class _Packed(Base, omit_defaults=True):
    """Reals that ROOT packs, in a range or with a truncated mantissa."""

    low: float
    high: float
    num_bits: int
    to_dims: tuple[int, ...] = ()

    #: Of one item in memory.
    base_dtype: ClassVar[type[np.floating[Any]]]

    def __post_init__(self) -> None:
        """Check that ROOT could have written the number of bits and the range."""
        if not 2 <= self.num_bits <= 32:
            raise ValueError(f"num_bits must be between 2 and 32, not {self.num_bits}")
        if not self.is_truncated and not self.low < self.high:
            raise ValueError(f"the range is empty: low {self.low}, high {self.high}")
        dims = self.to_dims
        if len(dims) > MAX_DIMENSIONS or any(size < 1 for size in dims):
            raise ValueError(f"the shape {dims} is not one of at most {MAX_DIMENSIONS} dimensions")
        if self.itemsize > MAX_ITEMSIZE_BYTES:
            raise ValueError(f"an entry has {self.itemsize} bytes: more than {MAX_ITEMSIZE_BYTES}")

    def __repr__(self) -> str:
        dims = f", to_dims={self.to_dims!r}" if self.to_dims else ""
        return f"{type(self).__name__}({self.low!r}, {self.high!r}, {self.num_bits!r}{dims})"

    @property
    def is_truncated(self) -> bool:
        """Whether an item is an exponent and a truncated mantissa, in three bytes."""
        return self.low == self.high == 0

    @property
    def itemsize(self) -> int:
        """Bytes of one entry in a basket."""
        return (3 if self.is_truncated else 4) * math.prod(self.to_dims)

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """Fixed shape of one entry."""
        return self.to_dims

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Native dtype of one entry in memory, with its shape."""
        return np.dtype((self.base_dtype, self.to_dims))


class AsDouble32(_Packed, tag_field="kind", tag="double32"):
    """ROOT's ``Double32_t`` with a range, packed in a 4-byte unsigned integer an item.

    Parameters
    ----------
    low, high : float
        Limits of the range.
    num_bits : int
        Bits that are used of the integer.
    to_dims : tuple of int
        Fixed shape of one entry.

    Notes
    -----
    ROOT: ``TBufferFile::ReadWithFactor`` and ``ReadWithNbits``. With both limits 0 an item is
    three bytes, exponent and mantissa.
    """

    base_dtype = np.float64


class AsFloat16(_Packed, tag_field="kind", tag="float16"):
    """ROOT's ``Float16_t``: the same packings as `AsDouble32`, as 4-byte floats in memory.

    Parameters
    ----------
    low, high : float
        Limits of the range, both 0 for a truncated mantissa.
    num_bits : int
        Bits of the integer or of the mantissa.
    to_dims : tuple of int
        Fixed shape of one entry.
    """

    base_dtype = np.float32


class AsStridedObjects(Base, omit_defaults=True, tag_field="kind", tag="strided"):
    """Objects of a C++ class whose members are numbers at fixed places.

    Parameters
    ----------
    from_dtype : numpy.dtype
        Layout of one object in a basket: big-endian, packed; members of members have a path with
        slashes as name, and names that begin with "@" are ROOT's own.
    records : dict of str to str
        C++ classes, by the path of the member; "" is the object itself.
    header_bytes : int
        Bytes before each object.
    text : str
        What uproot shows as the interpretation.
    headers : tuple of (int, bytes)
        What every object must have at which of its bytes, counted with `header_bytes`: the byte
        count, version and checksum that ROOT writes before it and before objects in it.
    """

    from_dtype: np.dtype
    records: dict[str, str]
    header_bytes: int = 0
    text: str = "AsStridedObjects"
    headers: tuple[tuple[int, bytes], ...] = ()

    def __post_init__(self) -> None:
        """Check that there is a struct of plain numbers."""
        check_dtype(self.from_dtype)
        if split_dtype(self.from_dtype)[0].names is None:
            raise ValueError(f"{self.from_dtype} has no members")
        if "" not in self.records:
            raise ValueError(f"{self.records} names no class of the object itself")
        if not 0 <= self.header_bytes <= 255:
            raise ValueError(f"header_bytes must be between 0 and 255, not {self.header_bytes}")
        size = split_dtype(self.from_dtype)[0].itemsize + self.header_bytes
        for offset, header in self.headers:
            if not 0 <= offset <= size - len(header):
                raise ValueError(f"a header at byte {offset} is not within {size} bytes")

    def __repr__(self) -> str:
        return self.text

    @property
    def itemsize(self) -> int:
        """Bytes of one object in a basket, its header included."""
        return self.from_dtype.itemsize + self.header_bytes

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """Fixed shape of one entry."""
        return split_dtype(self.from_dtype)[1]

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Native dtype of one entry in memory, with its shape."""
        return self.from_dtype.newbyteorder("=")


Numerical: TypeAlias = AsDtype | AsDouble32 | AsFloat16 | AsStridedObjects


class AsJagged(Base, omit_defaults=True, tag_field="kind", tag="jagged"):
    """A variable number of numbers or fixed-size objects an entry.

    Parameters
    ----------
    content : AsDtype, AsDouble32, AsFloat16 or AsStridedObjects
        One item.
    header_bytes : int
        Bytes to skip at the beginning of each entry. If they are 10, as for a ``std::vector``, they
        must be a byte count, a version and the number of items.
    """

    content: Numerical
    header_bytes: int = 0

    def __post_init__(self) -> None:
        """Check the length of the header."""
        if not 0 <= self.header_bytes <= 255:
            raise ValueError(f"header_bytes must be between 0 and 255, not {self.header_bytes}")

    def __repr__(self) -> str:
        header = f", header_bytes={self.header_bytes}" if self.header_bytes else ""
        return f"AsJagged({self.content!r}{header})"

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Python objects, as the NumPy form of a jagged column has them."""
        return np.dtype(object)


class AsStrings(Base, omit_defaults=True, tag_field="kind", tag="strings"):
    """One string an entry.

    Parameters
    ----------
    header_bytes : int
        Bytes to skip at the beginning of each entry. If they are 6, as for a ``std::string`` in a
        class, they must be a byte count and a version.
    length_bytes : "1-5" or "4"
        Whether the length takes one byte (255 announces four more) or always four.
    """

    header_bytes: int = 0
    length_bytes: Literal["1-5", "4"] = "1-5"

    def __post_init__(self) -> None:
        """Check the length of the header."""
        if not 0 <= self.header_bytes <= 255:
            raise ValueError(f"header_bytes must be between 0 and 255, not {self.header_bytes}")

    def __repr__(self) -> str:
        args = [f"header_bytes={self.header_bytes}"] if self.header_bytes else []
        if self.length_bytes != "1-5":
            args.append(f"length_bytes={self.length_bytes!r}")
        return f"AsStrings({', '.join(args)})"

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Python objects, as the NumPy form of a string column has them."""
        return np.dtype(object)


class AsBits(Base, omit_defaults=True, tag_field="kind", tag="bits"):
    """The bits of ``TObject``s, some of which are followed by the number of a process.

    Parameters
    ----------
    jagged : bool
        Whether an entry has any number of objects, and not one.

    Notes
    -----
    An item is a big-endian uint32, and two bytes more where bit 4 of it, ``kIsReferenced``, is set
    (ROOT: ``TObject::Streamer``, and ``TStreamerInfo::ReadBuffer`` for ``kBits``).
    """

    jagged: bool = False

    def __repr__(self) -> str:
        # What uproot shows, which does not know of the bytes between.
        return "AsJagged(AsDtype('>u4'))" if self.jagged else "AsDtype('>u4')"

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Of one entry in memory."""
        return np.dtype(object) if self.jagged else np.dtype(np.uint32)


class Program(msgspec.Struct, frozen=True):
    """An AwkwardForth program, and the Awkward form of what it fills.

    Parameters
    ----------
    source : str
        The program.
    form_json : str
        The form, as JSON.
    objects_json : str
        What its entries are in Python (`vroot.objects.instances.ObjectTypes`), as JSON.
    """

    source: str
    form_json: str
    objects_json: str = ""


class AsObjects(Base, omit_defaults=True, tag_field="kind", tag="program"):
    """Objects of C++ classes and containers, which a program deserializes.

    Parameters
    ----------
    program : Program
        What to run on each basket.
    text : str
        What uproot shows as the interpretation.
    """

    program: Program
    text: str = "AsObjects"

    def __repr__(self) -> str:
        return self.text

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Python objects."""
        return np.dtype(object)


class AsGrouped(Base, omit_defaults=True, tag_field="kind", tag="grouped"):
    """No column of its own: the branches below, put together as records.

    Parameters
    ----------
    text : str
        What uproot shows as the interpretation; the facade makes it of the branches: `AsGroup`.
    """

    text: str = "AsGrouped"

    def __repr__(self) -> str:
        return self.text

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Python objects."""
        return np.dtype(object)


class AsGroup(AsGrouped):
    """What the facade makes of `AsGrouped`, which as it is stored does not name the branches.

    Parameters
    ----------
    subbranches : dict of str to Interpretation
        The interpretations of the branches, by name.
    """

    subbranches: dict[str, Any] = msgspec.field(default_factory=dict)

    def __repr__(self) -> str:
        return self.text


class AsInline(Base, omit_defaults=True, tag_field="kind", tag="inline"):
    """Ready-made Awkward buffers, for what no program can deserialize.

    Parameters
    ----------
    form_json : str
        The form, as JSON.
    buffers : dict of str to bytes
        The buffers of the form, little-endian, for all entries of the branch.
    text : str
        What uproot shows as the interpretation.
    objects_json : str
        What its entries are in Python (`vroot.objects.instances.ObjectTypes`), as JSON.
    """

    form_json: str
    buffers: dict[str, bytes]
    text: str = "AsObjects"
    objects_json: str = ""

    def __repr__(self) -> str:
        return self.text

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Python objects."""
        return np.dtype(object)


class Unsupported(Base, omit_defaults=True, tag_field="kind", tag="unsupported"):
    """A column that the store names but does not represent.

    Parameters
    ----------
    reason : str
        Why it cannot be read, in words for the user.
    text : str
        What uproot shows as the interpretation.
    in_arrays : bool
        Whether a request for all branches includes it: uproot leaves out what it has no
        interpretation for, and what only groups other branches.
    """

    reason: str
    text: str = ""
    in_arrays: bool = True

    def __repr__(self) -> str:
        return self.text

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Python objects: nothing else is known."""
        return np.dtype(object)


class AsInstances(Unsupported, tag_field="kind", tag="instances"):
    """Objects that the store itself holds, which Awkward Array has no form for.

    Parameters
    ----------
    reason : str
        Why there is no Awkward Array of them.
    text : str
        What uproot shows as the interpretation.
    in_arrays : bool
        As of `Unsupported`.
    entries : list
        The objects, as `vroot.objects.decoding.decode_object` takes them.
    """

    entries: list[Any] = msgspec.field(default_factory=list)


Interpretation: TypeAlias = (
    AsDtype
    | AsDouble32
    | AsFloat16
    | AsStridedObjects
    | AsJagged
    | AsStrings
    | AsBits
    | AsObjects
    | AsGrouped
    | AsInline
    | AsInstances
    | Unsupported
)
