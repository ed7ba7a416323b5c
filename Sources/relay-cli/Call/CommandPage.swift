import RelayCore
import RelayTool

/// Explains one command of a service, from its description.
struct CommandPage {
    let style: OutputStyle
    func bytes(of target: Catalogue.Target) -> [UInt8] {
        var output = ByteBuffer()
        if style.json {
            ListPrinter(style: style).append(target.command, to: &output)
            output.append("\n")
        } else {
            append(target, to: &output)
        }
        return output.bytes
    }

    private func append(_ target: Catalogue.Target, to output: inout ByteBuffer) {
        let command = target.command
        if style.hasColor { output.append(Color.event) }
        SafeText.append(command.name, to: &output)
        if style.hasColor { output.append(Color.reset) }
        output.append("  of ")
        SafeText.append(target.interface, to: &output)
        output.append("\n")
        if !command.about.isEmpty {
            PageText.append(PageText.safe(command.about), at: 0, from: 0, width: style.width, to: &output)
            output.append("\n")
        }
        section("Arguments", rows(of: command.arguments), to: &output)
        section("Reply", rows(of: command.reply), to: &output)
        section("Refusals", command.failures.map { ($0.name, $0.message) }, to: &output)
        section("Usage", [(usage(of: command), "")], to: &output)
    }
    /// `relay-cli call OrderBox label=… capacity=…`; what may be left out stands in brackets.
    private func usage(of command: IntrospectedCommand) -> String {
        let arguments = command.arguments.map { field -> String in
            if case .optional = field.shape { return "[\(field.name)=…]" }
            return "\(field.name)=…"
        }
        return ([Program.declaration.name, "call", command.name] + arguments).joined(separator: " ")
    }
    /// Each argument, and below it the fields within of which there is something to say.
    private func rows(of fields: [IntrospectedField]) -> [(String, String)] {
        fields.flatMap { field -> [(String, String)] in
            let within = field.notes.inner.sorted { $0.key < $1.key }.map { path, note in
                ("  " + path + unit(note), note.text)
            }
            return [(field.name + ": " + field.shape.text + unit(field.notes.note), field.notes.note.text)] + within
        }
    }
    private func unit(_ note: FieldNotes.Note) -> String { note.unit.isEmpty ? "" : " in " + note.unit }

    private func section(_ title: StaticString, _ rows: [(name: String, meaning: String)], to output: inout ByteBuffer)
    {
        if rows.isEmpty { return }
        output.append("\n")
        if style.hasColor { output.append(Color.time) }
        output.append(title)
        if style.hasColor { output.append(Color.reset) }
        output.append("\n")
        if let row = rows.first, rows.count == 1, row.meaning.isEmpty {
            output.append("  ")
            PageText.append(PageText.safe(row.name), at: 4, from: 2, width: style.width, to: &output)
            return output.append("\n")
        }
        // What is nested in a field stands two blanks further in.
        let safe = rows.map { (name: PageText.safe($0.name), text: PageText.safe($0.meaning)) }
        PageText.append(rows: safe, indent: 2, width: style.width, to: &output)
    }
}
