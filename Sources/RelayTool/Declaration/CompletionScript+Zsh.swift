extension CompletionScript {
    var zsh: String {
        var text = #"""
            #compdef \#(program.name)
            # zsh completion for \#(program.name); made by it.
            # Names that the program prints: matches, which zsh quotes by itself, and never evaluates. One that begins with a
            # dash would be read as an option.
            _\#(identifier)_ask() {
                local -a names
                names=(${(f)"$(\#(program.name) $target "$@" 2>/dev/null)"})
                names=(${names:#(-*|\ *|*[^\ -~]*)})
                # Behind `=` a value follows in the same word.
                compadd -S '' -- ${(M)names:#*=}
                compadd -- ${names:#*=}
            }
            _\#(identifier)() {
                local curcontext=$curcontext state=rest line verb= index
                # The options of the line that say which service is asked.
                local -a target=()
                for ((index = 2; index < CURRENT; index++)); do
                    case $words[index] in
                        --session | --system) target+=($words[index]) ;;
                        --bus | --service | -s) target+=($words[index] "${(Q)words[index+1]}"); ((index++)) ;;
                        --bus=* | --service=* | -s?*) target+=("${(Q)words[index]}") ;;
            \#(skips)            -*) ;;
                        *) [[ -n $verb ]] || verb=$index ;;
                    esac
                done
                local -a all=(

            """#
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
            text += "                \(Words.quoted("\(verb.name):\(Self.escaped(verb.summary, "\\")))"))\n"
        }
        text += """
                        )
                        _describe command verbs ;;
                    rest)
                        case $words[1] in

            """
        for verb in program.verbs {
            text += "                \(Words.quoted(verb.name))) _arguments -s $all"
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
    /// A specification of `_arguments`.
    private func zshOption(_ option: any DeclaredOption) -> String {
        let summary = Words.replacing(["[": "(", "]": ")", ":": ""], in: option.summary)
        let argument = option.argument.map { ":\($0.name):\(values(of: option).map(zshAction) ?? "")" } ?? ""
        // An option with an argument may be given more than once: --domain A --domain B. The argument is the next word, or
        // what follows the equals sign or the letter.
        return spellings(option).map { spelling in
            let form = option.argument == nil ? spelling : "*\(spelling)\(spelling.hasPrefix("--") ? "=" : "+")"
            return Words.quoted("\(form)[\(Self.escaped(summary, "\\"))]\(argument)")
        }.joined(separator: " ")
    }
    /// An action of `_arguments`, which evaluates it: words are quoted for that. A bare colon would end it.
    private func zshAction(_ values: Values) -> String {
        switch values {
        case .words(let words): "(\(Self.escaped(Self.list(words), ":")))"
        case .command(let command, let takesFirst):
            "{_\(identifier)_ask \(Self.escaped(Self.list(command), ":"))"
                + (takesFirst ? #" "${(Q)line[1]}""# : "") + "}"
        case .folders: "_files -/"
        case .files: "_files"
        }
    }
    private static func escaped(_ text: String, _ scalar: Unicode.Scalar) -> String {
        Words.replacing([scalar: "\\" + String(scalar)], in: text)
    }
}
