"""``speedqual local``: model files on this machine, by hand."""

from __future__ import annotations

import signal
from pathlib import Path

import click

from speedqual.endpoints.local import LocalServer, drop_layers, fetch_model, list_models, model_folder
from speedqual.endpoints.local.server import default_threads
from speedqual.endpoints.local.variants import layer_count

__all__ = ["command"]


_MODEL = click.option(
    "--model", type=click.Path(path_type=Path), help="A GGUF file, or a name of the list. Default: the embedded model."
)


@click.group("local")
def command() -> None:
    """Serve, list and vary model files on this machine.

    \b
    Examples:
      speedqual local serve
      speedqual local serve --model my-model.gguf --slots 4
      speedqual local variants --drop 14 --drop 10,14
    """


@command.command("list")
def list_() -> None:
    """The model files in the cache folder."""
    for model in list_models():
        click.echo(f"{model.name}\t{model.bytes / 1e6:.0f} MB")
    click.echo(f"folder: {model_folder()}", err=True)


@command.command()
@_MODEL
@click.option("--alias", default="", help="The model's name in requests and replies.")
@click.option("--threads", type=click.IntRange(1), default=None, help="Default: all cores but one.")
@click.option("--ctx", "n_ctx", type=click.IntRange(128), default=2048, show_default=True, help="Tokens a slot.")
@click.option("--slots", type=click.IntRange(1), default=1, show_default=True, help="Requests side by side.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
def serve(model: Path | None, alias: str, threads: int | None, n_ctx: int, slots: int, port: int) -> None:
    """Serve a model over loopback until Ctrl-C."""
    settings = {"alias": alias, "n_ctx": n_ctx, "slots": slots, "port": port}
    with LocalServer(_model(model), threads=threads or default_threads(), **settings) as server:  # type: ignore[arg-type]
        name = server.alias or server.model.stem
        click.echo(server.base_url)
        click.echo(f"try: speedqual run --model openai/{name} --base-url {server.base_url} --evalset facts", err=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


@command.command()
@_MODEL
@click.option("--drop", "drops", multiple=True, required=True, metavar="N[,N]", help="Blocks to leave out; repeatable.")
def variants(model: Path | None, drops: tuple[str, ...]) -> None:
    """Make variants of a model with blocks left out."""
    source = _model(model)
    for drop in drops:
        path = drop_layers(source, _numbers(drop))
        click.echo(f"{path}\t{layer_count(path)} of {layer_count(source)} layers")


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as fault:
        raise click.BadParameter(f"{text!r} is no list of layer numbers such as 10,14", param_hint="--drop") from fault


def _model(model: Path | None) -> Path:
    if model is None:
        return fetch_model(say=lambda line: click.echo(line, err=True))
    named = model_folder() / f"{model.name}.gguf"
    return named if not model.exists() and named.exists() else model
