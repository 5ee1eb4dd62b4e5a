"""Builds a tiny CTranslate2 translation model whose output is known: a Markov chain over target tokens.

All attention and feed-forward weights are zero, so that the next token depends on the previous one alone, and the
model says the same for every source. Loading, tokenization, beam search and length limits are the library's own.
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import ctranslate2
import numpy as np
import sentencepiece

END, UNKNOWN = "</s>", "<unk>"
PIECES = 60
WIDTH = 96  # of the model; at least as many as there are tokens
STRENGTH = 2.0
SOURCE_TEXT = ("we walk along the river", "the sea is cold today", "my sister saw the old bridge")
TARGET_TEXT = ("nós vamos ao longo do rio", "o mar está frio hoje", "a minha irmã viu a ponte antiga")

Chain = Mapping[str, Mapping[str, float]]  # next tokens with weights, by previous token


def build_model(
    folder: Path, sentences: Mapping[str, float], *, add_source_eos: bool = True, prefixes: Sequence[str] = ()
) -> Path:
    """Writes a model that says one of the sentences; those with a higher weight are likelier."""
    folder.mkdir(parents=True)
    source = _tokenizer([*SOURCE_TEXT], prefixes)
    target = _tokenizer([*TARGET_TEXT, *sentences], ())
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    source_tokens, target_tokens = _tokens(source), _tokens(target)
    processor = sentencepiece.SentencePieceProcessor(model_proto=target)
    chain: dict[str, dict[str, float]] = {}
    for sentence, weight in sentences.items():
        previous = END  # decoding starts with it, as in Marian
        for piece in [*processor.encode(sentence, out_type=str), END]:
            following = chain.setdefault(previous, {})
            following[piece] = max(following.get(piece, 0.0), weight)
            previous = piece
    spec = _spec(source_tokens, target_tokens, chain)
    spec.config.add_source_eos = add_source_eos
    spec.validate()
    spec.save(str(folder))
    return folder


def _tokenizer(texts: Sequence[str], symbols: Sequence[str]) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,
        vocab_size=PIECES,
        hard_vocab_limit=False,
        bos_id=-1,
        user_defined_symbols=list(symbols),
        minloglevel=2,
    )
    return written.getvalue()


def _tokens(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [processor.id_to_piece(number) for number in range(processor.get_piece_size())]
    assert {END, UNKNOWN} <= set(pieces)
    assert len(pieces) <= WIDTH
    return pieces


def _spec(source: Sequence[str], target: Sequence[str], chain: Chain) -> ctranslate2.specs.TransformerSpec:
    spec = ctranslate2.specs.TransformerSpec.from_config((1, 1), 1, pre_norm=True)
    encoder, decoder = spec.encoder, spec.decoder
    for part, size in ((encoder, len(source)), (decoder, len(target))):
        part.position_encodings.encodings = np.zeros((512, WIDTH), dtype=np.float32)
        _set_norm(part.layer_norm)
        for layer in part.layer:
            _set_attention(layer.self_attention, (3 * WIDTH, WIDTH))
            if part is decoder:
                _set_attention(layer.attention, (WIDTH, 2 * WIDTH, WIDTH))
            _set_norm(layer.ffn.layer_norm)
            _set_linear(layer.ffn.linear_0, WIDTH, WIDTH)
            _set_linear(layer.ffn.linear_1, WIDTH, WIDTH)
        embeddings = part.embeddings[0] if part is encoder else part.embeddings
        embeddings.weight = np.eye(size, WIDTH, dtype=np.float32)
    number = {token: at for at, token in enumerate(target)}
    weights = np.zeros((len(target), WIDTH), dtype=np.float32)
    for previous, following in chain.items():
        for token, weight in following.items():
            weights[number[token], number[previous]] = STRENGTH + weight
    decoder.projection.weight, decoder.projection.bias = weights, np.zeros(len(target), dtype=np.float32)
    spec.register_source_vocabulary(list(source))
    spec.register_target_vocabulary(list(target))
    spec.config.decoder_start_token = END
    return spec


def _set_attention(attention: ctranslate2.specs.attention_spec.MultiHeadAttentionSpec, rows: Sequence[int]) -> None:
    _set_norm(attention.layer_norm)
    for linear, count in zip(attention.linear, rows, strict=True):
        _set_linear(linear, count, WIDTH)


def _set_linear(linear: ctranslate2.specs.common_spec.LinearSpec, rows: int, columns: int) -> None:
    linear.weight = np.zeros((rows, columns), dtype=np.float32)
    linear.bias = np.zeros(rows, dtype=np.float32)


def _set_norm(norm: ctranslate2.specs.common_spec.LayerNormSpec) -> None:
    norm.gamma, norm.beta = np.ones(WIDTH, dtype=np.float32), np.zeros(WIDTH, dtype=np.float32)
