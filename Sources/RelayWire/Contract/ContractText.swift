/// The contract of one interface as text: here its commands alone.
package struct ContractText: Sendable {
    package let name: String
    package let commands: [ContractCommand]
    package var calls: [ContractCommand] { commands }

    package init(name: String, isDurable: Bool, commands: [ContractCommand] = []) {
        (self.name, self.commands) = (name, commands)
    }
    package init(parsing text: String) throws(RelayError) {
        var (name, commands): (String, [ContractCommand]) = ("", [])
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if words.count < 2 { continue }
            if words[0] == "interface" { name = words[1] }
            if words[0] == "command" { commands.append(ContractCommand(name: words[1])) }
            if words[0] == "in" { commands[commands.count - 1].arguments.append(try WireField(parsing: words[1])) }
            if words[0] == "out" { commands[commands.count - 1].reply.append(try WireField(parsing: words[1])) }
            if words[0] == "progress" {
                let known = commands[commands.count - 1].progress ?? []
                commands[commands.count - 1].progress = known + [try WireField(parsing: words[1])]
            }
        }
        (self.name, self.commands) = (name, commands)
    }
    package var text: String {
        var lines = ["interface \(name)"]
        for command in commands {
            lines.append("command \(command.name)")
            lines += command.arguments.map { "    in \($0.description)" }
            lines += command.reply.map { "    out \($0.description)" }
            lines += (command.progress ?? []).map { "    progress \($0.description)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

package struct ContractCommand: Sendable {
    package let name: String
    package internal(set) var arguments: [WireField]
    package internal(set) var reply: [WireField]
    package internal(set) var progress: [WireField]?

    package init(name: String, arguments: [WireField] = [], reply: [WireField] = [], progress: [WireField]? = nil) {
        (self.name, self.arguments, self.reply, self.progress) = (name, arguments, reply, progress)
    }
}
