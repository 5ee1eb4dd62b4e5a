"""Seals voice prints for the database: they are biometric data, and never leave the server."""

from typing import TYPE_CHECKING

from cutroom.platform.secret_box import SecretBox

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

PURPOSE = "cast-speaker-embedding"


def seal_embedding(secret_box: SecretBox, vector: "Vector", *, appearance_id: str) -> bytes:
    """As 16-bit floats, which is precise enough to compare."""
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    return secret_box.seal(PURPOSE, vector.astype(np.float16).tobytes(), appearance_id)


def unseal_embedding(secret_box: SecretBox, sealed: bytes, *, appearance_id: str) -> "Vector":
    import numpy as np  # noqa: PLC0415 - as above

    vector = np.frombuffer(secret_box.unseal(PURPOSE, sealed, appearance_id), np.float16).astype(np.float32)
    return np.asarray(vector / (np.linalg.norm(vector) or 1.0), np.float32)
