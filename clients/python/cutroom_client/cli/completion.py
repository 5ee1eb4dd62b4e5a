"""`completion`: the scripts with which shells complete commands and options."""

from __future__ import annotations

from typing import Annotated

import typer

from cutroom_client.cli.exits import CommandError
from cutroom_client.cli.session import Session

_BASH = """_cutroom_completion() {
    local IFS=$'\\n'
    local words="${COMP_WORDS[*]}"
    COMPREPLY=( $( env COMP_WORDS="$words" COMP_CWORD=$COMP_CWORD _CUTROOM_COMPLETE=complete_bash "$1" 2>/dev/null ) )
}
complete -o default -F _cutroom_completion cutroom"""
_ZSH = """#compdef cutroom
_cutroom_completion() {
    local typed="${words[1,$CURRENT]}"
    eval $(env _TYPER_COMPLETE_ARGS="$typed" _CUTROOM_COMPLETE=complete_zsh cutroom 2>/dev/null)
}
compdef _cutroom_completion cutroom"""
_FISH = """function __cutroom_complete
    set -lx _CUTROOM_COMPLETE complete_fish
    set -lx _TYPER_COMPLETE_FISH_ACTION $argv[1]
    set -lx _TYPER_COMPLETE_ARGS (commandline -cp)
    cutroom 2>/dev/null
end
complete --command cutroom --no-files \\
    --arguments "(__cutroom_complete get-args)" --condition "__cutroom_complete is-args\""""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completion(
    _session: Session, shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]
) -> None:
    """Print the completion script of a shell. For bash: eval "$(cutroom completion bash)"."""
    if shell not in _SCRIPTS:
        message = f"There is no completion for this shell, but for: {', '.join(_SCRIPTS)}."
        raise CommandError(message)
    typer.echo(_SCRIPTS[shell])


COMMANDS = {"completion": completion}
