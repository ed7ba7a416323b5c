/// Completion for a shell, made from a declaration: verbs, options, words that an argument can be, and names that the
/// program itself is asked for.
package struct CompletionScript {
    package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

    /// An argument of which the program knows the values: `EVENT` asks `relay-cli completion --names events`.
    package struct Names: Sendable {
        /// What an operand or an option's argument is called in the declaration.
        package let argument: String
        /// What the program prints the names with, one a line.
        package let command: [String]
        /// Whether the verb's first operand follows: the fields of a command are asked by its name.
        package let takesFirst: Bool

        package init(argument: String, command: [String], takesFirst: Bool = false) {
            (self.argument, self.command, self.takesFirst) = (argument, command, takesFirst)
        }
    }

    private let program: ProgramDeclaration
    private let names: [Names]

    package static func text(for shell: Shell, of program: ProgramDeclaration, names: [Names] = []) -> String {
        let script = CompletionScript(program: program, names: names)
        return switch shell {
        case .bash: script.bash
        case .zsh: script.zsh
        case .fish: script.fish
        }
    }

    // MARK: What can stand where

    /// What can be typed for an argument.
    private enum Values {
        case words([String])
        case command(String, takesFirst: Bool)
        case folders, files
    }
    private func values(_ name: String, _ words: [String]) -> Values? {
        if !words.isEmpty { return .words(words) }
        if let names = names.first(where: { $0.argument == name }) {
            // The bus and the service that the line names are those that are asked.
            return .command(names.command.map(Words.quoted).joined(separator: " "), takesFirst: names.takesFirst)
        }
        return switch name {
        case "DIR": .folders
        case "FILE": .files
        default: nil
        }
    }
    private func values(of option: any DeclaredOption) -> Values? {
        option.argument.flatMap { values($0.name, $0.words) }
    }
    private func values(of operand: any DeclaredOperand) -> Values? {
        operand.name == "COMMAND" && operand.words.isEmpty && operand.count == 0...1 && !program.verbs.isEmpty
            ? .words(program.verbs.map(\.name)) : values(operand.name, operand.words)
    }
    private func options(of verb: CommandDeclaration?) -> [any DeclaredOption] {
        program.options + (verb?.options ?? [])
    }
    /// `relay_cli`
    private var identifier: String { program.name.split(separator: "-").joined(separator: "_") }
    private func spellings(_ option: any DeclaredOption) -> [String] {
        ["--" + option.name] + (option.letter.map { ["-\($0)"] } ?? [])
    }

    // MARK: bash

    private var bash: String {
        var text = """
            # bash completion for \(program.name); made by it.
            _\(identifier)() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb= first= word index taken=0
                # The options of the line that say which service is asked.
                local -a target=()
                for ((index = 1; index < COMP_CWORD; index++)); do
                    word=${COMP_WORDS[index]}
                    case $word in
                        --session | --system) target+=("$word") ;;
                        --bus | --service | -s) target+=("$word" "${COMP_WORDS[index + 1]}"); ((index++)) ;;
            \(skips)            -*) ;;
                        *) if [ -z "$verb" ]; then verb=$word; else [ -n "$first" ] || first=$word; ((taken++)); fi ;;
                    esac
                done
                case $previous in

            """
        var seen: Set<String> = []
        for option in options(of: nil) + program.verbs.flatMap(\.options) where seen.insert(option.name).inserted {
            guard option.argument != nil else { continue }
            let fill = values(of: option).map(bashFill) ?? ":"
            text += "        \(spellings(option).joined(separator: " | "))) \(fill); return ;;\n"
        }
        text += """
                esac
                local options operands
                case $verb in

            """
        for verb in program.verbs {
            text += "        \(verb.name)) options='\(optionWords(verb))'"
            var before = 0
            for operand in verb.operands {
                let (most, overflows) = before.addingReportingOverflow(operand.count.upperBound)
                if let values = values(of: operand) {
                    let limit = overflows || most == .max ? "" : " && $taken -lt \(most)"
                    text += "\n            [[ $current != -* && $taken -ge \(before)\(limit) ]] && "
                    text += "{ \(bashFill(values)); return; }"
                }
                before = overflows ? .max : most
            }
            text += " ;;\n"
        }
        let words = program.verbs.map(\.name).joined(separator: " ")
        text += """
                    *) options='\(optionWords(nil))'
                        [[ $current == -* ]] || { COMPREPLY=($(compgen -W '\(words)' -- "$current")); return; } ;;
                esac
                COMPREPLY=($(compgen -W "$options" -- "$current"))
            }
            complete -F _\(identifier) \(program.name)

            """
        return text
    }
    /// Options with an argument, whose next word is no operand: of bash and zsh.
    private var skips: String {
        var seen: Set<String> = ["bus", "service"]
        let all = (options(of: nil) + program.verbs.flatMap(\.options)).filter {
            $0.argument != nil && seen.insert($0.name).inserted
        }
        return all.isEmpty
            ? "" : "            \(all.flatMap(spellings).joined(separator: " | "))) ((index++)) ;;\n"
    }
    private func optionWords(_ verb: CommandDeclaration?) -> String {
        options(of: verb).map { "--" + $0.name }.joined(separator: " ")
    }
    private func bashFill(_ values: Values) -> String {
        switch values {
        case .words(let words):
            "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$current\"))"
        case .command(let command, let takesFirst):
            "COMPREPLY=($(compgen -W \"$(\(program.name) \"${target[@]}\" \(command)"
                + (takesFirst ? " \"$first\"" : "") + " 2>/dev/null)\" -- \"$current\"))"
        case .folders: "COMPREPLY=($(compgen -d -- \"$current\"))"
        case .files: "COMPREPLY=($(compgen -f -- \"$current\"))"
        }
    }

    // MARK: zsh

    private var zsh: String {
        var text = """
            #compdef \(program.name)
            # zsh completion for \(program.name); made by it.
            _\(identifier)_ask() {
                local -a names
                names=(${(f)"$(_call_program names \(program.name) $target "$@" 2>/dev/null)"})
                compadd -a names
            }
            _\(identifier)() {
                local curcontext=$curcontext state=rest line verb= index
                # The options of the line that say which service is asked.
                local -a target=()
                for ((index = 2; index < CURRENT; index++)); do
                    case $words[index] in
                        --session | --system) target+=($words[index]) ;;
                        --bus | --service | -s) target+=($words[index] $words[index+1]); ((index++)) ;;
            \(skips)            -*) ;;
                        *) [[ -n $verb ]] || verb=$index ;;
                    esac
                done
                local -a all=(

            """
        for option in program.options { text += "        \(zshOption(option))\n" }
        text += "    )\n"
        if program.verbs.isEmpty {
            return text + "    _arguments -s $all\n}\n\(zshEnd)"
        }
        text += """
                # From the verb on, the line is the verb's.
                if [[ -z $verb ]]; then
                    _arguments -s $all '1: :->verb'
                else
                    words=("${(@)words[verb,-1]}")
                    ((CURRENT -= verb - 1))
                fi
                case $state in
                    verb)
                        local -a verbs=(

            """
        for verb in program.verbs {
            text += "                \(Words.quoted("\(verb.name):\(verb.summary)"))\n"
        }
        text += """
                        )
                        _describe command verbs ;;
                    rest)
                        case $words[1] in

            """
        for verb in program.verbs {
            text += "                \(verb.name)) _arguments -s $all"
            for option in verb.options { text += " \\\n                    \(zshOption(option))" }
            for (index, operand) in verb.operands.enumerated() {
                guard let values = values(of: operand) else { continue }
                let place = operand.count.upperBound > 1 ? "*" : "\(index + 1)"
                text += " \\\n                    \(Words.quoted("\(place):\(operand.name):\(zshAction(values))"))"
            }
            text += " ;;\n"
        }
        return text + """
                        esac ;;
                esac
            }

            """ + zshEnd
    }
    /// The same file serves `source` and the folder of completions, where its first use runs it.
    private var zshEnd: String {
        """
        case $funcstack[1] in
            _\(program.name) | _\(identifier)) _\(identifier) "$@" ;;
            *) compdef _\(identifier) \(program.name) ;;
        esac

        """
    }
    private func zshOption(_ option: any DeclaredOption) -> String {
        let summary = option.summary.replacing("[", with: "(").replacing("]", with: ")").replacing(":", with: "")
        let argument = option.argument.map { ":\($0.name):\(values(of: option).map(zshAction) ?? "")" } ?? ""
        // An option with an argument may be given more than once: --domain A --domain B.
        return (["--" + option.name] + (option.letter.map { ["-\($0)"] } ?? [])).map {
            Words.quoted("\(option.argument == nil ? "" : "*")\($0)[\(summary)]\(argument)")
        }.joined(separator: " ")
    }
    private func zshAction(_ values: Values) -> String {
        switch values {
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .command(let command, let takesFirst):
            "{_\(identifier)_ask \(command)" + (takesFirst ? " $line[1]" : "") + "}"
        case .folders: "_files -/"
        case .files: "_files"
        }
    }

    // MARK: fish

    private var fish: String {
        let name = program.name
        var text = """
            # fish completion for \(name); made by it.
            function __\(identifier)_ask
                # The options of the line that say which service is asked.
                set -l words (commandline -opc)
                set -l target
                for index in (seq 2 (count $words))
                    switch $words[$index]
                        case --session --system
                            set -a target $words[$index]
                        case --bus --service -s
                            set -a target $words[$index] $words[(math $index + 1)]
                    end
                end
                \(name) $target $argv 2>/dev/null
            end
            # What stands behind the verb, but for options and what they take.
            function __\(identifier)_operands
                set -l words (commandline -opc)
                set -l verb
                set -l skips
                for word in $words[2..-1]
                    if set -q skips[1]
                        set -e skips
                        continue
                    end
                    switch $word
                        case \(fishSkips)
                            set skips yes
                        case '-*'
                        case '*'
                            if set -q verb[1]
                                echo $word
                            else
                                set verb $word
                            end
                    end
                end
            end
            complete -c \(name) -f

            """
        for option in program.options { text += fishOption(option, condition: nil) }
        let verbs = program.verbs.map(\.name).joined(separator: " ")
        for verb in program.verbs {
            text +=
                "complete -c \(name) -n 'not __fish_seen_subcommand_from \(verbs)' -a \(verb.name) -d "
                + "\(Words.quoted(verb.summary))\n"
        }
        for verb in program.verbs {
            let condition = "__fish_seen_subcommand_from \(verb.name)"
            for option in verb.options { text += fishOption(option, condition: condition) }
            for (index, operand) in verb.operands.enumerated() {
                guard let values = values(of: operand) else { continue }
                let place =
                    "test (count (__\(identifier)_operands)) -\(operand.count.upperBound > 1 ? "ge" : "eq") \(index)"
                text += "complete -c \(name) -n '\(condition); and \(place)' \(fishValues(values))\n"
            }
        }
        return text
    }
    private var fishSkips: String {
        var seen: Set<String> = []
        return (options(of: nil) + program.verbs.flatMap(\.options)).filter {
            $0.argument != nil && seen.insert($0.name).inserted
        }.flatMap(spellings).joined(separator: " ")
    }
    private func fishOption(_ option: any DeclaredOption, condition: String?) -> String {
        var line = "complete -c \(program.name)"
        if let condition { line += " -n '\(condition)'" }
        line += " -l \(option.name)"
        if let letter = option.letter { line += " -s \(letter)" }
        let values = values(of: option)
        // An argument is required; and it is no file, but where it is one.
        if option.argument != nil { if case .files = values { line += " -r" } else { line += " -x" } }
        if let values { line += " " + fishValues(values) }
        return line + " -d \(Words.quoted(option.summary))\n"
    }
    private func fishValues(_ values: Values) -> String {
        switch values {
        case .words(let words): "-a '\(words.joined(separator: " "))'"
        case .command(let command, let takesFirst):
            "-a '(__\(identifier)_ask \(command)" + (takesFirst ? " (__\(identifier)_operands)[1]" : "") + ")'"
        case .folders: "-a '(__fish_complete_directories)'"
        case .files: "-F"
        }
    }
}
