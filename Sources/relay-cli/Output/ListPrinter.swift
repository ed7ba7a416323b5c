import RelayCore
import RelayTool
import RelayWire

/// Writes what a service offers.
struct ListPrinter {
    let style: OutputStyle

    func append(_ entries: [Catalogue.Entry], to output: inout ByteBuffer) {
        for (index, entry) in entries.enumerated() {
            if style.json {
                appendObject(entry, to: &output)
            } else {
                if index > 0 { output.append(byte: UInt8(ascii: "\n")) }
                appendText(entry, to: &output)
            }
        }
    }

    // MARK: For people

    private func appendText(_ entry: Catalogue.Entry, to output: inout ByteBuffer) {
        if style.hasColor { output.append(Color.event) }
        SafeText.append(entry.interface.name, to: &output)
        if style.hasColor { output.append(Color.reset) }
        output.append("  ")
        SafeText.append(entry.path, to: &output)
        output.append("\n")
        section("events", entry.interface.events.map { (safe($0.name), fields($0.fields)) }, to: &output)
        let commands = entry.interface.commands.map { command in
            var text = fields(command.arguments)
            if !command.reply.isEmpty { text += (text.isEmpty ? "" : " ") + "-> " + fields(command.reply) }
            if !command.failures.isEmpty {
                text += (text.isEmpty ? "" : " ") + "or " + safe(command.failures.map(\.name).joined(separator: ", "))
            }
            return (safe(command.name), text)
        }
        section("commands", commands, to: &output)
        let properties = entry.interface.properties.map { property in
            let access =
                switch (property.isReadable, property.isWritable) {
                case (true, true): " (read, write)"
                case (false, _): " (write)"
                default: ""
                }
            return (safe(property.value.name), safe(property.value.shape.text) + access)
        }
        section("properties", properties, to: &output)
    }

    private func section(_ title: StaticString, _ rows: [(name: String, text: String)], to output: inout ByteBuffer) {
        if rows.isEmpty { return }
        output.append("  ")
        if style.hasColor { output.append(Color.time) }
        output.append(title)
        if style.hasColor { output.append(Color.reset) }
        output.append("\n")
        PageText.append(rows: rows, indent: 4, width: style.width, to: &output)
    }
    private func safe(_ text: String) -> String { PageText.safe(text) }
    /// `boxID: int64, capacity: int32`
    private func fields(_ fields: [IntrospectedField]) -> String {
        safe(fields.map { $0.name + ":" + PageText.fixedBlank + $0.shape.text }.joined(separator: ", "))
    }

    // MARK: JSON

    private func appendObject(_ entry: Catalogue.Entry, to output: inout ByteBuffer) {
        output.append("{\"interface\":")
        SafeText.append(quoted: entry.interface.name, to: &output)
        output.append(",\"path\":")
        SafeText.append(quoted: entry.path, to: &output)
        text("about", entry.interface.about, to: &output)
        output.append(",\"events\":")
        array(entry.interface.events, to: &output) { event, output in
            output.append("{\"name\":")
            SafeText.append(quoted: event.name, to: &output)
            text("about", event.about, to: &output)
            output.append(",\"fields\":")
            array(event.fields, to: &output, fieldObject)
            output.append("}")
        }
        output.append(",\"commands\":")
        array(entry.interface.commands, to: &output) { append($0, to: &$1) }
        output.append(",\"properties\":")
        array(entry.interface.properties, to: &output) { property, output in
            output.append("{\"name\":")
            fieldMembers(property.value, to: &output)
            output.append(",\"readable\":")
            output.append(property.isReadable ? "true" : "false")
            output.append(",\"writable\":")
            output.append(property.isWritable ? "true" : "false")
            output.append("}")
        }
        output.append("}\n")
    }

    /// A command as an object.
    func append(_ command: IntrospectedCommand, to output: inout ByteBuffer) {
        output.append("{\"name\":")
        SafeText.append(quoted: command.name, to: &output)
        text("about", command.about, to: &output)
        output.append(",\"arguments\":")
        array(command.arguments, to: &output, fieldObject)
        output.append(",\"reply\":")
        array(command.reply, to: &output, fieldObject)
        if !command.failures.isEmpty {
            output.append(",\"failures\":{")
            for (index, failure) in command.failures.enumerated() {
                if index > 0 { output.append(",") }
                SafeText.append(quoted: failure.name, to: &output)
                output.append(":")
                SafeText.append(quoted: failure.message, to: &output)
            }
            output.append("}")
        }
        output.append("}")
    }
    /// A further member of an object; nothing for an empty text.
    private func text(_ name: StaticString, _ text: String, to output: inout ByteBuffer) {
        if text.isEmpty { return }
        output.append(",\"")
        output.append(name)
        output.append("\":")
        SafeText.append(quoted: text, to: &output)
    }

    private func array<Member>(
        _ members: [Member], to output: inout ByteBuffer, _ object: (Member, inout ByteBuffer) -> Void
    ) {
        output.append("[")
        for (index, member) in members.enumerated() {
            if index > 0 { output.append(",") }
            object(member, &output)
        }
        output.append("]")
    }

    private func fieldObject(_ field: IntrospectedField, to output: inout ByteBuffer) {
        output.append("{\"name\":")
        fieldMembers(field, to: &output)
        output.append("}")
    }
    private func fieldMembers(_ field: IntrospectedField, to output: inout ByteBuffer) {
        SafeText.append(quoted: field.name, to: &output)
        output.append(",\"type\":")
        SafeText.append(quoted: field.shape.unnamed.text, to: &output)
        output.append(",\"signature\":")
        SafeText.append(quoted: field.shape.signature, to: &output)
        text("about", field.notes.note.text, to: &output)
        text("unit", field.notes.note.unit, to: &output)
        if let cases = field.shape.cases {
            output.append(",\"cases\":{")
            for (index, one) in cases.enumerated() {
                if index > 0 { output.append(",") }
                SafeText.append(quoted: one.name, to: &output)
                output.append(":")
                switch one.raw {
                case .signed(let value): output.append(decimal: value)
                case .unsigned(let value): output.append(decimal: value)
                case .text(let text): SafeText.append(quoted: text, to: &output)
                }
            }
            output.append("}")
        }
    }
}
