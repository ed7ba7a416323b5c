import RelayCore

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
        section("events", entry.interface.events, to: &output) { event, output in
            SafeText.append(event.name, to: &output)
            fields(event.fields, to: &output)
        }
        section("commands", entry.interface.commands, to: &output) { command, output in
            SafeText.append(command.name, to: &output)
            fields(command.arguments, to: &output)
            if !command.reply.isEmpty { output.append(" ->") }
            fields(command.reply, to: &output)
            if !command.failures.isEmpty {
                let names = command.failures.map(\.name).joined(separator: ", ")
                SafeText.append(" or \(names)", to: &output)
            }
        }
        section("properties", entry.interface.properties, to: &output) { property, output in
            SafeText.append(property.value.name + ": " + property.value.shape.text, to: &output)
            switch (property.isReadable, property.isWritable) {
            case (true, true): output.append(" (read, write)")
            case (false, _): output.append(" (write)")
            default: break
            }
        }
    }

    private func section<Member>(
        _ title: StaticString, _ members: [Member], to output: inout ByteBuffer,
        _ line: (Member, inout ByteBuffer) -> Void
    ) {
        if members.isEmpty { return }
        output.append("  ")
        if style.hasColor { output.append(Color.time) }
        output.append(title)
        if style.hasColor { output.append(Color.reset) }
        output.append("\n")
        for member in members {
            output.append("    ")
            line(member, &output)
            output.append("\n")
        }
    }

    /// ` boxID: int64, capacity: int32`
    private func fields(_ fields: [IntrospectedField], to output: inout ByteBuffer) {
        for (index, field) in fields.enumerated() {
            output.append(index == 0 ? " " : ", ")
            SafeText.append(field.name + ": " + field.shape.text, to: &output)
        }
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
