extension CompletionScript {
    var fish: String {
        let name = program.name
        var text = #"""
            # fish completion for \#(name); made by it.
            # Names that the program prints, and what may follow each behind a tab. fish quotes what it inserts, and evaluates
            # nothing of it. A name that begins with a dash would be read as an option.
            function __\#(identifier)_ask
                # The options of the line that say which service is asked.
                set -l words (commandline -opc)
                set -l target
                for index in (seq 2 (count $words))
                    switch $words[$index]
                        case --session --system
                            set -a target $words[$index]
                        case --bus --service -s
                            set -a target $words[$index] $words[(math $index + 1)]
                        case '--bus=*' '--service=*' '-s*'
                            set -a target $words[$index]
                    end
                end
                \#(name) $target $argv 2>/dev/null | string match --regex '^[!-,.-~][\t -~]*$'
            end
            # What stands behind the verb, but for options and what they take.
            function __\#(identifier)_operands
                set -l words (commandline -opc)
                set -l verb
                set -l skips
                for word in $words[2..-1]
                    if set -q skips[1]
                        set -e skips
                        continue
                    end
                    switch $word
                        case \#(optionsWithArguments.flatMap(spellings).joined(separator: " "))
                            set skips yes
                        case '-*'
                        case '*'
                            if set -q verb[1]
                                printf '%s\n' $word
                            else
                                set verb $word
                            end
                    end
                end
            end
            complete -c \#(name) -f

            """#
        for option in program.options { text += fishOption(option, condition: nil) }
        let verbs = program.verbs.map(\.name).joined(separator: " ")
        for verb in program.verbs {
            text +=
                "complete -c \(name) -n 'not __fish_seen_subcommand_from \(verbs)' "
                + "\(fishValues(.words([verb.name]))) -d \(Self.fishQuoted(verb.summary))\n"
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
    private func fishOption(_ option: any DeclaredOption, condition: String?) -> String {
        var line = "complete -c \(program.name)"
        if let condition { line += " -n '\(condition)'" }
        line += " -l \(option.name)"
        if let letter = option.letter { line += " -s \(letter)" }
        let values = values(of: option)
        // An argument is required; and it is no file, but where it is one.
        if option.argument != nil { if case .files = values { line += " -r" } else { line += " -x" } }
        if let values { line += " " + fishValues(values) }
        return line + " -d \(Self.fishQuoted(option.summary))\n"
    }
    /// fish expands the text behind `-a` once more: words are quoted for that, too.
    private func fishValues(_ values: Values) -> String {
        switch values {
        case .words(let words): "-a " + Self.fishQuoted(Self.fishList(words))
        case .command(let command, let takesFirst):
            "-a "
                + Self.fishQuoted(
                    "(__\(identifier)_ask \(Self.fishList(command))"
                        + (takesFirst ? " (__\(identifier)_operands)[1]" : "") + ")")
        case .folders: "-a '(__fish_complete_directories)'"
        case .files: "-F"
        }
    }
    private static func fishList(_ words: [String]) -> String {
        words.map { $0 == Words.quoted($0) ? $0 : fishQuoted($0) }.joined(separator: " ")
    }
    /// One word. Between fish's quotes, a quote and a backslash are escaped.
    private static func fishQuoted(_ word: String) -> String {
        "'" + Words.replacing(["\\": "\\\\", "'": "\\'"], in: word) + "'"
    }
}
