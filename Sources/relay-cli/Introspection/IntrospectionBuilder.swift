import CExpat
import RelayCore
import RelayTool
import RelayWire

/// Collects what expat reports. A class, for C's callbacks to find it; it lives as long as one parse.
final class IntrospectionBuilder {
    private static let deepest = 32
    private static let mostElements = 50_000

    private enum Element { case node, interface, event, command, property, argument, other }
    private struct PendingArgument {
        var name: String
        var signature: String
        var isReply: Bool
        /// By name.
        var annotations: [String: String] = [:]
    }
    private typealias Annotation = InterfaceDescription.Annotation

    private let parser: XML_Parser
    private(set) var node = IntrospectedNode()
    private(set) var failure: IntrospectionFailure?
    private(set) var sawRoot = false
    private var open: [Element] = []
    private var elements = 0
    private var nodePath: [String] = []
    private var interface: IntrospectedInterface?
    private var memberName = ""
    /// Of the member, by name.
    private var annotations: [String: String] = [:]
    private var arguments: [IntrospectedField] = []
    private var reply: [IntrospectedField] = []
    private var argument: PendingArgument?
    private var access = ""

    init(_ parser: XML_Parser) { self.parser = parser }

    static func from(_ context: UnsafeMutableRawPointer?) -> IntrospectionBuilder? {
        context.map { Unmanaged<IntrospectionBuilder>.fromOpaque($0).takeUnretainedValue() }
    }

    var line: Int { Int(relay_expat_line(parser)) }

    func foundEntity() { fail(.entities(line: line)) }

    private func fail(_ failure: IntrospectionFailure) {
        // expat reports the end of an element that it began before it stops.
        if self.failure == nil { self.failure = failure }
        _ = XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    func start(
        _ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) {
        guard failure == nil, let name else { return }
        elements += 1
        guard open.count < Self.deepest, elements <= Self.mostElements else { return fail(.excessive(line: line)) }
        let values = Attributes(attributes)
        let element = begin(String(cString: name), values)
        open.append(element)
    }

    private func begin(_ name: String, _ values: Attributes) -> Element {
        switch (open.last, name) {
        case (nil, "node"):
            sawRoot = true
            return .node
        case (.node, "node"):
            let child = values["name"]
            guard BusNames.isObjectPath("/" + child), !child.isEmpty else {
                fail(.illegalName(kind: "node", name: child, line: line))
                return .other
            }
            nodePath.append(child)
            node.children.append(nodePath.joined(separator: "/"))
            return .node
        case (.node, "interface"):
            let name = values["name"]
            guard BusNames.isInterface(name) else {
                fail(.illegalName(kind: "interface", name: name, line: line))
                return .other
            }
            interface = IntrospectedInterface(name: name)
            return .interface
        case (.interface, "signal"): return beginMember(.event, values)
        case (.interface, "method"): return beginMember(.command, values)
        case (.interface, "property"):
            access = values["access"]
            argument = PendingArgument(name: values["name"], signature: values["type"], isReply: false)
            return beginMember(.property, values)
        case (.event, "arg"), (.command, "arg"):
            // D-Bus specification, "Introspection data format": "in" is what a method's argument is unless it says
            // otherwise.
            argument = PendingArgument(
                name: values["name"], signature: values["type"],
                isReply: open.last == .command && values["direction"] == "out")
            return .argument
        case (.argument, "annotation"), (.property, "annotation"):
            argument?.annotations[values["name"]] = values["value"]
            return .other
        case (.event, "annotation"), (.command, "annotation"):
            annotations[values["name"]] = values["value"]
            return .other
        case (.interface, "annotation"):
            if values["name"] == Annotation.about { interface?.about = values["value"] }
            return .other
        default:
            return .other
        }
    }

    private func beginMember(_ element: Element, _ values: Attributes) -> Element {
        memberName = values["name"]
        (arguments, reply, annotations) = ([], [], [:])
        guard BusNames.isMember(memberName) else {
            fail(.illegalName(kind: "member", name: memberName, line: line))
            return .other
        }
        return element
    }

    func end() {
        guard failure == nil, let element = open.popLast() else { return }
        switch element {
        case .node:
            if !nodePath.isEmpty { nodePath.removeLast() }
        case .interface:
            // A nested node's interfaces are asked of that node itself.
            if let interface, nodePath.isEmpty { node.interfaces.append(interface) }
            interface = nil
        case .event:
            interface?.events.append(
                IntrospectedEvent(name: memberName, arguments: arguments, about: annotations[Annotation.about] ?? ""))
        case .command:
            interface?.commands.append(
                IntrospectedCommand(
                    name: memberName, arguments: arguments, reply: reply, about: annotations[Annotation.about] ?? "",
                    failures: Self.failures(annotations[Annotation.failures])))
        case .property:
            guard let field = finishedArgument({ $0 }) else { return }
            interface?.properties.append(
                IntrospectedProperty(
                    value: field, isReadable: access != "write", isWritable: access == "write" || access == "readwrite")
            )
        case .argument:
            let isReply = argument?.isReply ?? false
            let others = isReply ? reply : arguments
            let field = finishedArgument { CheckedNames.argument($0, at: others.count, after: others) }
            guard let field else { return }
            if isReply { reply.append(field) } else { arguments.append(field) }
        case .other: break
        }
    }

    /// `checked` makes a name of the one that the description has. A property's is its member's, which is checked.
    private func finishedArgument(_ checked: (String) -> String) -> IntrospectedField? {
        guard let argument else { return nil }
        self.argument = nil
        guard let types = try? Signature(argument.signature).types, types.count == 1 else {
            fail(.illegalSignature(argument.signature, of: memberName, line: line))
            return nil
        }
        // An annotation that does not fit the signature is no reason to lose the event: it only names things.
        let annotated = argument.annotations[IntrospectionXML.fieldsAnnotation].flatMap { Shape(annotation: $0) }
        var shape = annotated.flatMap { $0.signature == argument.signature ? $0 : nil } ?? Shape(types[0])
        var notes = FieldNotes()
        for (name, value) in argument.annotations {
            if let path = Self.path(name, behind: Annotation.about) {
                notes[path].text = value
            } else if let path = Self.path(name, behind: Annotation.unit) {
                notes[path].unit = value
            } else if let path = Self.path(name, behind: Annotation.cases), let cases = Self.cases(value) {
                shape = shape.naming(cases, at: path.split(separator: ".").map(String.init)[...])
            }
        }
        return IntrospectedField(name: checked(argument.name), shape: shape, notes: notes)
    }

    // MARK: Annotations. What is malformed in them only says less.

    /// `capacity` of `org.eventrelay.Unit.capacity`; empty for the name alone, nil for another name.
    private static func path(_ name: String, behind known: String) -> String? {
        if name == known { return "" }
        let path = name.hasPrefix(known + ".") ? String(name.dropFirst(known.count + 1)) : nil
        return path.flatMap { !$0.isEmpty && CheckedNames.isPath($0) ? $0 : nil }
    }
    private static func members(_ json: String?) -> [JSONValue.Member] {
        guard let json, case .object(let members)? = try? JSONParser.parse(json) else { return [] }
        return members
    }
    private static func cases(_ json: String) -> [WireCase]? {
        let cases = members(json).compactMap { member -> WireCase? in
            switch member.value {
            case .string(let text): WireCase(member.key, .text(text))
            case .number(let text):
                (Int64(text).flatMap { WireCase.Raw($0) } ?? UInt64(text).flatMap { WireCase.Raw($0) })
                    .map { WireCase(member.key, $0) }
            default: nil
            }
        }
        let checked = CheckedNames.cases(cases)
        return checked.isEmpty ? nil : checked
    }
    private static func failures(_ json: String?) -> [IntrospectedCommand.Failure] {
        members(json).compactMap { member in
            guard case .string(let message) = member.value, CheckedNames.isRefusal(member.key) else { return nil }
            return IntrospectedCommand.Failure(name: member.key, message: message)
        }
    }

    /// expat's list of names and values in turn, ended by NULL.
    private struct Attributes {
        private var values: [String: String] = [:]

        init(_ list: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?) {
            guard var next = list else { return }
            while let name = next[0], let value = next[1] {
                values[String(cString: name)] = String(cString: value)
                next += 2
            }
        }
        subscript(name: String) -> String { values[name] ?? "" }
    }
}
