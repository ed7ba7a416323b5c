/// A program that a recorded line runs, with its arguments as the shell gives them.
struct RecordedCommand {
    /// `relay-cli`
    let program: String
    let arguments: [String]
    /// nil: the line's exit code is another command's: that of its last.
    let code: Int32?

    /// Those of our programs that a line runs.
    static func all(in run: Transcript.Run) -> [RecordedCommand] {
        let parts = split(run.line)
        let programs = ["relay-cli", "relay-service"]
        return parts.enumerated().compactMap { index, words in
            // Before the program's name may stand variables for it.
            let rest = words.drop { !programs.contains($0) }
            guard let program = rest.first else { return nil }
            return RecordedCommand(
                program: program, arguments: Array(rest.dropFirst()),
                code: index == parts.count - 1 ? run.outcome.code : nil)
        }
    }

    /// The words of each command of a line of shell: as far as transcripts use it.
    private static func split(_ line: String) -> [[String]] {
        var (commands, words, word) = ([[String]](), [String](), String?.none)
        var (quote, isRedirected) = (Character?.none, false)
        func end(_ word: inout String?, _ words: inout [String]) {
            if let whole = word { words.append(whole) }
            word = nil
        }
        for character in line {
            switch character {
            case quote: quote = nil
            case _ where quote != nil: word = (word ?? "") + String(character)
            case "'", "\"":
                quote = character
                word = word ?? ""
            case " ": if !isRedirected { end(&word, &words) }
            case "|", ";", "&":
                if !isRedirected { end(&word, &words) }
                commands.append(words)
                (words, word, isRedirected) = ([], nil, false)
            case ">", "<":
                // `2>` is no word of the command.
                if word == "2" { word = nil }
                if !isRedirected { end(&word, &words) }
                isRedirected = true
            default: if !isRedirected { word = (word ?? "") + String(character) }
            }
        }
        if !isRedirected { end(&word, &words) }
        return (commands + [words]).filter { !$0.isEmpty }.map { $0.map(expanded) }
    }
    private static func expanded(_ word: String) -> String {
        word.replacing("$bus", with: "unix:path=/bus").replacing("$HOME", with: "/stage")
    }
}
