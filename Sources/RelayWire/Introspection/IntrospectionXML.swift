/// Renders what an object has as introspection XML (D-Bus specification, "Introspection Data Format").
package struct IntrospectionXML {
    /// Where an argument's shape stands when its signature does not show it (see `WireType.shape`).
    package static let fieldsAnnotation = "org.eventrelay.Fields"
    private static let emitsChanged = "org.freedesktop.DBus.Property.EmitsChangedSignal"

    private var text = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

        """
    private var depth = 0

    /// A node with these interfaces, and with child nodes by their relative names.
    package static func render(_ interfaces: [InterfaceDescription], children: [String] = []) -> String {
        var xml = Self()
        xml.element("node", []) { xml in
            for interface in interfaces { xml.interface(interface) }
            for child in children { xml.element("node", [("name", child)]) }
        }
        return xml.text
    }

    private mutating func interface(_ interface: InterfaceDescription) {
        element("interface", [("name", interface.name)]) { xml in
            for method in interface.methods {
                xml.element("method", [("name", method.name)]) { xml in
                    for input in method.inputs { xml.argument(input, direction: "in") }
                    for output in method.outputs { xml.argument(output, direction: "out") }
                    xml.annotations(method.annotations)
                }
            }
            for signal in interface.signals {
                xml.element("signal", [("name", signal.name)]) { xml in
                    for argument in signal.arguments { xml.argument(argument, direction: nil) }
                    xml.annotations(signal.annotations)
                }
            }
            for property in interface.properties { xml.property(property) }
            xml.annotations(interface.annotations)
        }
    }
    private mutating func argument(_ argument: InterfaceDescription.Argument, direction: String?) {
        var attributes = [("name", argument.name), ("type", argument.signature)]
        if let direction { attributes.append(("direction", direction)) }
        element("arg", attributes) { xml in
            xml.shape(argument)
            xml.annotations(argument.annotations)
        }
    }
    private mutating func property(_ property: InterfaceDescription.Property) {
        let (argument, access) = (property.argument, property.access.rawValue)
        element("property", [("name", argument.name), ("type", argument.signature), ("access", access)]) { xml in
            xml.shape(argument)
            xml.annotations([.init(Self.emitsChanged, property.emission.rawValue)] + argument.annotations)
        }
    }
    private mutating func shape(_ argument: InterfaceDescription.Argument) {
        if let shape = argument.shape { annotations([.init(Self.fieldsAnnotation, shape)]) }
    }
    private mutating func annotations(_ annotations: [InterfaceDescription.Annotation]) {
        for annotation in annotations {
            element("annotation", [("name", annotation.name), ("value", annotation.value)])
        }
    }

    private mutating func element(
        _ name: String, _ attributes: [(String, String)], content: (inout Self) -> Void = { _ in }
    ) {
        text += String(repeating: "  ", count: depth) + "<\(name)"
        for (attribute, value) in attributes { text += " \(attribute)=\"\(Self.escaped(value))\"" }
        text += ">\n"
        let inside = text.utf8.count
        depth += 1
        content(&self)
        depth -= 1
        if text.utf8.count == inside {
            text.removeLast(2)
            text += "/>\n"
        } else {
            text += String(repeating: "  ", count: depth) + "</\(name)>\n"
        }
    }
    /// For an attribute's value. A character that XML 1.0 cannot carry becomes U+FFFD.
    static func escaped(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&apos;"
            case "\t", "\n", "\r": text += "&#\(scalar.value);"  // Kept by readers that normalise white space.
            case "\0"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
