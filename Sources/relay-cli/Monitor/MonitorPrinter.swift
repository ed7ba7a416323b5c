import RelayCore
import RelayTool
import RelayWire

/// Makes lines of what a service and others exchange: a value, which joins calls with their replies.
struct MonitorPrinter {
    private struct Call {
        let interface: String
        let member: String
        let time: UInt64
        let reply: [IntrospectedField]
    }
    private struct CallID: Hashable {
        let caller: String
        let serial: UInt32
    }
    /// Calls whose replies are due. Past it the replies are not joined with their calls.
    private static let mostCalls = 4_096

    let service: String
    /// Whether what keeps the streams whole is shown, too.
    let all: Bool
    let style: OutputStyle
    let isUTF8: Bool
    /// The service's unique name; nil: it is not there.
    var owner: String?
    private var clock: EventClock
    private var interfaces: [String: IntrospectedInterface] = [:]
    private var offered: Set<String> = []
    private var calls: [CallID: Call] = [:]
    /// Lines so far.
    private(set) var printed: UInt64 = 0

    init(service: String, all: Bool, style: OutputStyle, clock: EventClock, isUTF8: Bool) {
        (self.service, self.all, self.style, self.clock, self.isUTF8) = (service, all, style, clock, isUTF8)
    }

    /// Takes the service's introspection data, in place of what was known before.
    mutating func learn(_ catalogue: Catalogue) {
        interfaces = [:]
        for entry in catalogue.entries { interfaces[entry.interface.name] = entry.interface }
        offered = Set(catalogue.offered.map(\.interface.name))
    }

    /// Whether the service's name has another owner now: ask what it offers. `now` is in microseconds since the Unix
    /// epoch.
    mutating func take(_ message: MonitoredMessage, now: UInt64, to output: inout ByteBuffer) -> Bool {
        switch message.kind {
        case .signal where message.sender == "org.freedesktop.DBus": return takeOwner(message, now, &output)
        case .signal: if message.sender == owner { signal(message, now, &output) }
        case .methodCall: if isOwn(message.destination) { call(message, now, &output) }
        case .methodReturn, .error: if message.sender == owner { reply(message, now, &output) }
        }
        return false
    }
    private func isOwn(_ name: String?) -> Bool { name != nil && (name == service || name == owner) }
    /// Without introspection data, all but the standard interfaces is shown.
    private func isShown(_ interface: String) -> Bool {
        let isMachinery = interface == Stream1.name || interface.hasPrefix("org.freedesktop.DBus.")
        return all || offered.contains(interface) || interfaces[interface] == nil && !isMachinery
    }

    // MARK: Messages

    private mutating func takeOwner(_ message: MonitoredMessage, _ now: UInt64, _ output: inout ByteBuffer) -> Bool {
        guard message.member == "NameOwnerChanged", message.signature == "sss",
            let names = try? message.body.withUnsafeBytes({ bytes in
                var reader = WireReader(bytes)
                return [try reader.string(), try reader.string(), try reader.string()]
            }), names[0] == service
        else { return false }
        owner = names[2].isEmpty ? nil : names[2]
        calls = [:]
        begin("owner", now, &output)
        if style.json {
            output.append(",\"service\":")
            SafeText.append(quoted: service, to: &output)
            output.append(",\"owner\":")
            if let owner { SafeText.append(quoted: owner, to: &output) } else { output.append("null") }
        } else {
            SafeText.append(owner.map { "\($0) is \(service) now" } ?? "\(service) went away", to: &output)
        }
        end(&output)
        return owner != nil
    }

    private mutating func signal(_ message: MonitoredMessage, _ now: UInt64, _ output: inout ByteBuffer) {
        guard let interface = message.interface, let member = message.member, isShown(interface) else { return }
        let known = interfaces[interface]
        let event = known?.events.first { $0.name == member }
        let isEvent =
            offered.contains(interface) && event != nil && message.signature.hasSuffix(WireSchema.stampSignature)
        let stamp = isEvent ? message.body.withUnsafeBytes { Stamp(endOf: $0, epoch: 0) } : nil
        let kind: StaticString = stamp == nil ? "signal" : known?.isDocument(member) == true ? "document" : "event"
        begin(kind, now, &output)
        if let stamp, !style.json {
            output.append("#")
            output.append(decimal: stamp.sequence)
            output.append(" ")
        }
        name(interface, member, &output)
        if let stamp, style.json {
            output.append(",\"sequence\":")
            output.append(decimal: stamp.sequence)
            output.append(",\"publishedAt\":\"")
            EventClock.append(timestamp: stamp.publishedAt.microseconds, to: &output)
            output.append("\"")
        }
        if let destination = message.destination { peer("to", destination, &output) }
        fields(event?.fields ?? [], message, leavingOut: stamp == nil ? 0 : 3, &output)
        end(&output)
    }

    private mutating func call(_ message: MonitoredMessage, _ now: UInt64, _ output: inout ByteBuffer) {
        guard let member = message.member, let sender = message.sender else { return }
        let interface = message.interface ?? ""
        guard isShown(interface) else { return }
        let command = interfaces[interface]?.commands.first { $0.name == member }
        if calls.count >= Self.mostCalls { calls = [:] }
        calls[CallID(caller: sender, serial: message.serial)] = Call(
            interface: interface, member: member, time: now, reply: command?.reply ?? [])
        begin("call", now, &output)
        name(interface, member, &output)
        peer("from", sender, &output)
        fields(command?.arguments ?? [], message, &output)
        end(&output)
    }

    private mutating func reply(_ message: MonitoredMessage, _ now: UInt64, _ output: inout ByteBuffer) {
        guard let caller = message.destination,
            let call = calls.removeValue(forKey: CallID(caller: caller, serial: message.replySerial))
        else { return }
        let isError = message.kind == .error
        let isRefusal = isError && message.errorName?.hasPrefix(call.interface + ".Error.") == true
        begin(isRefusal ? "refusal" : isError ? "error" : "reply", now, &output)
        name(call.interface, call.member, &output)
        peer("to", caller, &output)
        let duration = now > call.time ? now - call.time : 0
        if style.json {
            output.append(",\"microseconds\":")
            output.append(decimal: duration)
        } else {
            output.append(" in \(TopNumbers.time(duration, isUTF8: isUTF8))")
        }
        guard isError else {
            fields(call.reply, message, &output)
            return end(&output)
        }
        let text = message.signature.hasPrefix("s") ? Self.text(message.body) : ""
        if style.json {
            output.append(",\"error\":")
            SafeText.append(quoted: message.errorName ?? "", to: &output)
            output.append(",\"message\":")
            SafeText.append(quoted: text, to: &output)
        } else {
            output.append(": ")
            SafeText.append((message.errorName ?? "error") + (text.isEmpty ? "" : ": \(text)"), to: &output)
        }
        end(&output)
    }

    // MARK: Parts of a line

    private mutating func begin(_ kind: StaticString, _ now: UInt64, _ output: inout ByteBuffer) {
        if style.json {
            output.append("{\"kind\":\"")
            output.append(kind)
            output.append("\",\"time\":\"")
            EventClock.append(timestamp: now, to: &output)
            output.append("\"")
            return
        }
        if style.hasColor { output.append(Color.time) }
        clock.append(time: now, to: &output)
        output.append(" ")
        output.append(kind)
        output.append(String(repeating: " ", count: max(1, 9 - kind.utf8CodeUnitCount)))
        if style.hasColor { output.append(Color.reset) }
    }
    private mutating func end(_ output: inout ByteBuffer) {
        output.append(style.json ? "}\n" : "\n")
        printed += 1
    }
    private func name(_ interface: String, _ member: String, _ output: inout ByteBuffer) {
        if style.json {
            output.append(",\"interface\":")
            SafeText.append(quoted: interface, to: &output)
            output.append(",\"name\":")
            SafeText.append(quoted: member, to: &output)
            return
        }
        if style.hasColor { output.append(Color.event) }
        // Machinery has common names, such as Get.
        let isPlain = offered.contains(interface) || interface.isEmpty
        SafeText.append(isPlain ? member : "\(interface).\(member)", to: &output)
        if style.hasColor { output.append(Color.reset) }
    }
    private func peer(_ way: StaticString, _ name: String, _ output: inout ByteBuffer) {
        if style.json {
            output.append(",\"")
            output.append(way)
            output.append("\":")
            SafeText.append(quoted: name, to: &output)
        } else {
            output.append(" ")
            output.append(way)
            output.append(" ")
            SafeText.append(name, to: &output)
        }
    }
    /// The arguments, by their names if the introspection data has them and the body has their types.
    private func fields(
        _ fields: [IntrospectedField], _ message: MonitoredMessage, leavingOut tail: Int = 0,
        _ output: inout ByteBuffer
    ) {
        let stamp = tail > 0 ? WireSchema.stampSignature : ""
        let isKnown = fields.map(\.shape.signature).joined() + stamp == message.signature
        let printer =
            isKnown
            ? FieldsPrinter(fields, signature: message.signature, style: style)
            : FieldsPrinter(unknown: message.signature, leavingOut: tail, style: style)
        guard let printer else { return }
        message.body.withUnsafeBytes { body in
            if style.json {
                output.append(",\"fields\":")
                _ = printer.appendObject(body, to: &output)
            } else if !printer.isEmpty {
                output.append(": ")
                do throws(WireFault) { try printer.append(body, to: &output, longest: 16) } catch {
                    output.append(" …")
                }
            }
        }
    }
    private static func text(_ body: [UInt8]) -> String {
        (try? body.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try reader.string()
        }) ?? ""
    }
}
