/** `pawl completion`: a script for the shell, which asks pawl itself what may come next. */
import { Argument, type Command } from "commander";
import { basename } from "node:path";
import { EXIT, UsageError } from "../../../errors.ts";
import { print } from "../output.ts";
import { lookUp } from "../../../platform/look-up.ts";

const BASH = `_pawl() {
  local IFS=$'\\n'
  COMPREPLY=($(pawl complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _pawl pawl`;

const ZSH = `#compdef pawl
_pawl() {
  local -a found
  found=("\${(@f)$(pawl complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
if [ "$funcstack[1]" = "_pawl" ]; then
  _pawl "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _pawl pawl
fi`;

const FISH = `function __pawl_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l found (pawl complete $words[2..-1] "$last" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path "$last"
    end
end
complete -c pawl -f -a '(__pawl_complete)'`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .addArgument(new Argument("[shell]", `${Object.keys(SCRIPTS).join(", ")}; without it the one you use`))
    .addHelpText("after", EXAMPLES)
    .action((asked: string | undefined) => {
      const shell = asked ?? basename(process.env["SHELL"] ?? "");
      const script = lookUp(SCRIPTS, shell);
      if (script === undefined)
        throw new UsageError(shell === "" ? "which shell?" : `there is no completion for ${JSON.stringify(shell)}`, {
          hint: `one of: ${Object.keys(SCRIPTS)
            .map((name) => `pawl completion ${name}`)
            .join(", ")}`,
        });
      print(script);
      exit(EXIT.ok);
    });
}

const EXAMPLES = `
Put one of these lines where your shell reads its settings.

Examples:
  source <(pawl completion bash)          # ~/.bashrc
  source <(pawl completion zsh)           # ~/.zshrc
  pawl completion fish | source           # ~/.config/fish/config.fish
`;
