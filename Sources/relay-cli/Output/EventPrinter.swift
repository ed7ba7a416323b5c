import RelayCore

/// Writes events and gaps, a line each.
struct EventPrinter {
    private struct Key: Hashable {
        let interface: String
        let name: String
    }
    private struct Format {
        let fields: FieldsPrinter
        /// `BoxProvisioned`, or `{"event":"BoxProvisioned","interface":"…","sequence":`
        let head: [UInt8]
    }
    private let style: OutputStyle
    private var clock: EventClock
    private var formats: [Key: Format] = [:]

    init(style: OutputStyle, clock: EventClock) {
        (self.style, self.clock) = (style, clock)
    }

    /// Takes what the service tells about its events; what it told before is forgotten.
    mutating func learn(_ interfaces: [IntrospectedInterface]) {
        formats = [:]
        for interface in interfaces {
            for event in interface.events {
                let fields = FieldsPrinter(event.fields, signature: event.signature, style: style)
                formats[Key(interface: interface.name, name: event.name)] =
                    Format(fields: fields, head: head(interface: interface.name, name: event.name))
            }
        }
    }

    /// Returns what is wrong with the event's body, which its line shows as far as it can be read.
    mutating func append(_ event: Envelope, to output: inout ByteBuffer) -> WireFault? {
        let format = format(of: event)
        let fault: WireFault?
        if style.json {
            output.append(format.head)
            output.append(decimal: event.stamp.sequence)
            output.append(",\"previous\":")
            output.append(decimal: event.stamp.previous)
            output.append(",\"publishedAt\":\"")
            EventClock.append(timestamp: event.stamp.publishedAt.microseconds, to: &output)
            output.append("\",\"lane\":\"signal\",\"fields\":")
            fault = appendObject(format.fields, event.body, to: &output)
            output.append("}\n")
        } else {
            if style.hasColor { output.append(Color.time) }
            clock.append(timeOfDay: event.stamp.publishedAt.microseconds, to: &output)
            output.append(" #")
            output.append(decimal: event.stamp.sequence)
            if style.hasColor { output.append(Color.reset) }
            output.append(byte: UInt8(ascii: " "))
            output.append(format.head)
            if !format.fields.isEmpty { output.append(byte: UInt8(ascii: " ")) }
            do throws(WireFault) {
                try format.fields.append(event.body, to: &output)
                fault = nil
            } catch {
                fault = error
                output.append(" …")
            }
            output.append(byte: UInt8(ascii: "\n"))
        }
        return fault
    }

    /// `now` is when the gap was noticed: the events in it have no time.
    mutating func append(_ gap: Gap, of interface: String, now: UInt64, to output: inout ByteBuffer) {
        // The run ended at an unknown sequence.
        let isOpen = gap.sequences.upperBound == .max
        if style.json {
            output.append("{\"gap\":{\"interface\":")
            SafeText.append(quoted: interface, to: &output)
            output.append(",\"first\":")
            output.append(decimal: gap.sequences.lowerBound)
            output.append(",\"last\":")
            if isOpen { output.append("null") } else { output.append(decimal: gap.sequences.upperBound) }
            output.append("}}\n")
            return
        }
        if style.hasColor { output.append(Color.gap) }
        clock.append(timeOfDay: now, to: &output)
        if gap.reason == .epochChanged && gap.epoch == 0 {
            // A whole run may have come and gone unseen: its numbers would look like those of the last one.
            output.append(" gap: what ")
            SafeText.append(interface, to: &output)
            output.append(" published meanwhile is unknown (")
        } else {
            output.append(" gap: #")
            output.append(decimal: gap.sequences.lowerBound)
            if isOpen {
                output.append(" and all after it")
            } else if gap.sequences.lowerBound < gap.sequences.upperBound {
                output.append(" to #")
                output.append(decimal: gap.sequences.upperBound)
            }
            output.append(" of ")
            SafeText.append(interface, to: &output)
            output.append(" missing (")
        }
        if let count = gap.count {
            output.append(decimal: Int64(count))
            output.append(count == 1 ? " event, " : " events, ")
        }
        SafeText.append(gap.reason.rawValue, to: &output)
        output.append(")")
        if style.hasColor { output.append(Color.reset) }
        output.append(byte: UInt8(ascii: "\n"))
    }

    /// JSON must stay JSON: an object whose bytes end early is shown without fields.
    private func appendObject(_ fields: FieldsPrinter, _ body: [UInt8], to output: inout ByteBuffer) -> WireFault? {
        let start = output.count
        output.append(byte: UInt8(ascii: "{"))
        do throws(WireFault) {
            try fields.append(body, to: &output)
            output.append(byte: UInt8(ascii: "}"))
            return nil
        } catch {
            output.truncate(to: start)
            output.append("{}")
            return error
        }
    }

    private mutating func format(of event: Envelope) -> Format {
        let key = Key(interface: event.interface, name: event.name)
        if let known = formats[key], known.fields.signature == event.signature { return known }
        // The service told otherwise, or nothing, about this event: its signature comes with it.
        let fields =
            FieldsPrinter(unknown: event.signature, leavingOut: 3, style: style)
            ?? FieldsPrinter([], signature: event.signature, style: style)
        return Format(fields: fields, head: head(interface: event.interface, name: event.name))
    }

    private func head(interface: String, name: String) -> [UInt8] {
        var head = ByteBuffer()
        if style.json {
            head.append("{\"event\":")
            SafeText.append(quoted: name, to: &head)
            head.append(",\"interface\":")
            SafeText.append(quoted: interface, to: &head)
            head.append(",\"sequence\":")
        } else {
            if style.hasColor { head.append(Color.event) }
            SafeText.append(name, to: &head)
            if style.hasColor { head.append(Color.reset) }
        }
        return head.bytes
    }
}
