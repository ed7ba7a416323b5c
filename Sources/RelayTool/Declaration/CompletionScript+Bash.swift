extension CompletionScript {
    var bash: String {
        var text = #"""
            # bash completion for \#(program.name); made by it.
            # Offers those of the words that go on where the line's word ends. They are compared and quoted, never expanded.
            _\#(identifier)_offer() {
                local LC_ALL=C word quoted open=${current#[\"\']}
                for word in "$@"; do
                    [[ $word == [[:graph:]]* && $word != *[!\ -~]* ]] || continue
                    if [[ $open != "$current" ]]; then
                        # Behind an opened quote bash inserts a word as it is.
                        if [[ $word == "$open"* && $word != *[!A-Za-z0-9\ _.:=@%+,/-]* ]]; then COMPREPLY+=("$word"); fi
                        continue
                    fi
                    printf -v quoted %q "$word"
                    if [[ $word == "$current"* || $quoted == "$current"* ]]; then COMPREPLY+=("$quoted"); fi
                done
            }
            # Names that the program prints. One that begins with a dash would be read as an option.
            _\#(identifier)_ask() {
                local name
                local -a names=() plain=()
                mapfile -t names < <(\#(program.name) "${target[@]}" "$@" 2>/dev/null)
                for name in "${names[@]}"; do [[ $name == -* ]] || plain+=("$name"); done
                _\#(identifier)_offer "${plain[@]}"
            }
            # Files, which bash then quotes by itself.
            _\#(identifier)_files() {
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
            }
            # The words up to the cursor. bash splits at : and = too, and then replaces only what is behind the last of them.
            _\#(identifier)_words() {
                local rest=$COMP_LINE word index
                words=()
                for ((index = 0; index <= COMP_CWORD; index++)); do
                    word=${COMP_WORDS[index]}
                    if [[ -n $COMP_LINE && $rest != [[:blank:]]* && ($word == [:=]* || ${words[*]: -1} == *[:=]) ]]; then
                        words[${#words[@]} - 1]+=$word
                    else
                        words+=("$word")
                    fi
                    rest=${rest#*"$word"}
                done
            }
            _\#(identifier)() {
                local -a words
                _\#(identifier)_words
                local last=$((${#words[@]} - 1))
                local current=${words[last]} previous= verb= first= word index taken=0 lead=
                ((last == 0)) || previous=${words[last - 1]}
                [[ $current == "${COMP_WORDS[COMP_CWORD]}" ]] || lead=${current%"${current##*[:=]}"}
                COMPREPLY=()
                _\#(identifier)_fill
                # All of them begin with what stays.
                for index in "${!COMPREPLY[@]}"; do COMPREPLY[index]=${COMPREPLY[index]#"$lead"}; done
                # A value follows in the same word.
                if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
            }
            _\#(identifier)_fill() {
                # The options of the line that say which service is asked.
                local -a target=() options=()
                for ((index = 1; index < last; index++)); do
                    word=${words[index]}
                    case $word in
                        --session | --system) target+=("$word") ;;
                        --bus | --service | -s) target+=("$word" "${words[index + 1]}"); ((index++)) ;;
                        --bus=* | --service=* | -s?*) target+=("$word") ;;
            \#(skips)            -*) ;;
                        *) if [[ -z $verb ]]; then verb=$word; else [[ -n $first ]] || first=$word; ((taken++)); fi ;;
                    esac
                done
                case $previous in

            """#
        for option in optionsWithArguments {
            let fill = values(of: option).map(bashFill) ?? ":"
            text += "        \(spellings(option).joined(separator: " | "))) \(fill); return ;;\n"
        }
        text += """
                esac
                case $verb in

            """
        for verb in program.verbs {
            text += "        \(Words.quoted(verb.name))) options=(\(optionWords(verb)))"
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
        text += """
                    *) options=(\(optionWords(nil)))
                        [[ $current == -* ]] || { _\(identifier)_offer \(Self.list(program.verbs.map(\.name))); return; } ;;
                esac
                _\(identifier)_offer "${options[@]}"
            }
            complete -F _\(identifier) \(program.name)

            """
        return text
    }
    private func optionWords(_ verb: CommandDeclaration?) -> String {
        Self.list(options(of: verb).map { "--" + $0.name })
    }
    private func bashFill(_ values: Values) -> String {
        switch values {
        case .words(let words): "_\(identifier)_offer \(Self.list(words))"
        case .command(let command, let takesFirst):
            "_\(identifier)_ask \(Self.list(command))" + (takesFirst ? " \"$first\"" : "")
        case .folders: "_\(identifier)_files -d"
        case .files: "_\(identifier)_files -f"
        }
    }
}
