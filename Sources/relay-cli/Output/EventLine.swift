import RelayCore
import RelayTool
import RelayWire

/// Writes the lines of one event: what is the same in each is prepared.
struct EventLine {
    let fields: FieldsPrinter
    /// Numbers in an array that people are shown whole.
    private static let longest = 16
    private let style: OutputStyle
    /// `BoxProvisioned`, or `{"event":"BoxProvisioned","interface":"…",`
    private let head: [UInt8]

    init(_ name: String, of interface: String, fields: FieldsPrinter, style: OutputStyle) {
        (self.fields, self.style) = (fields, style)
        var head = ByteBuffer()
        if style.json {
            head.append("{\"event\":")
            SafeText.append(quoted: name, to: &head)
            head.append(",\"interface\":")
            SafeText.append(quoted: interface, to: &head)
            head.append(",")
        } else {
            if style.hasColor { head.append(Color.event) }
            SafeText.append(name, to: &head)
            if style.hasColor { head.append(Color.reset) }
        }
        self.head = head.bytes
    }

    /// Returns what is wrong with the body, which the line shows as far as it can be read.
    ///
    /// - Parameter chosen: the places of the fields that people are shown; nil for all.
    func append(
        _ stamp: Stamp, _ body: UnsafeRawBufferPointer, only chosen: Set<Int>? = nil, transport: StaticString,
        clock: inout EventClock, to output: inout ByteBuffer
    ) -> WireFault? {
        style.json
            ? appendObject(stamp, body, transport, to: &output)
            : appendText(stamp, body, chosen, &clock, to: &output)
    }

    private func appendText(
        _ stamp: Stamp, _ body: UnsafeRawBufferPointer, _ chosen: Set<Int>?, _ clock: inout EventClock,
        to output: inout ByteBuffer
    ) -> WireFault? {
        if style.hasColor { output.append(Color.time) }
        clock.append(time: stamp.publishedAt.microseconds, to: &output)
        output.append(" #")
        output.append(decimal: stamp.sequence)
        if style.hasColor { output.append(Color.reset) }
        output.append(byte: UInt8(ascii: " "))
        output.append(head)
        defer { output.append(byte: UInt8(ascii: "\n")) }
        do throws(WireFault) {
            if let chosen, style.fields == nil {
                try fields.append(body, only: chosen, to: &output, longest: Self.longest)
                return nil
            }
            if !fields.isEmpty { output.append(byte: UInt8(ascii: " ")) }
            try fields.append(body, to: &output, longest: Self.longest)
            return nil
        } catch {
            output.append(" …")
            return error
        }
    }

    private func appendObject(
        _ stamp: Stamp, _ body: UnsafeRawBufferPointer, _ transport: StaticString, to output: inout ByteBuffer
    ) -> WireFault? {
        output.append(head)
        if style.hasEpoch {
            // A text: it is no quantity, and nearly always above 2^53, which many readers of JSON round to.
            output.append("\"epoch\":\"")
            output.append(decimal: stamp.epoch)
            output.append("\",")
        }
        output.append("\"sequence\":")
        output.append(decimal: stamp.sequence)
        output.append(",\"previous\":")
        output.append(decimal: stamp.previous)
        output.append(",\"publishedAt\":\"")
        EventClock.append(timestamp: stamp.publishedAt.microseconds, to: &output)
        output.append("\",\"transport\":\"")
        output.append(transport)
        output.append("\",\"fields\":")
        let fault = fields.appendObject(body, to: &output)
        output.append("}\n")
        return fault
    }
}
