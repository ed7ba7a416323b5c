/// A D-Bus interface as introspection describes it: a value, made from the contract or by hand.
package struct InterfaceDescription: Hashable, Sendable {
    package struct Argument: Hashable, Sendable {
        package let name: String
        package let signature: String
        /// What the signature does not show (see `WireType.shape`); nil when it shows everything.
        package let shape: String?
        /// Its description in the contract.
        package var annotations: [Annotation] = []

        /// An argument of one complete type.
        package init(_ name: String, _ signature: String) {
            (self.name, self.signature, shape) = (name, signature, nil)
        }
        package init(_ field: WireField) {
            (name, signature) = (field.name, field.type.signature)
            shape = field.type.shape == signature ? nil : field.type.shape
        }
    }
    package struct Annotation: Hashable, Sendable {
        package let name: String
        package let value: String
        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }
    package struct Method: Hashable, Sendable {
        package let name: String
        package let inputs: [Argument]
        package let outputs: [Argument]
        package let annotations: [Annotation]
        package init(
            _ name: String, in inputs: [Argument] = [], out outputs: [Argument] = [], _ annotations: [Annotation] = []
        ) {
            (self.name, self.inputs, self.outputs, self.annotations) = (name, inputs, outputs, annotations)
        }
        /// A command, by its fields and its reply's.
        package init(command name: String, in inputs: [WireField], out outputs: [WireField]) {
            self.init(name, in: inputs.map(Argument.init), out: outputs.map(Argument.init))
        }
    }
    package struct Signal: Hashable, Sendable {
        package let name: String
        package let arguments: [Argument]
        package let annotations: [Annotation]
        package init(_ name: String, _ arguments: [Argument] = [], _ annotations: [Annotation] = []) {
            (self.name, self.arguments, self.annotations) = (name, arguments, annotations)
        }
        /// An event: its fields, then its stamp.
        package init(event name: String, fields: [WireField]) {
            self.init(name, fields.map(Argument.init) + WireSchema.stampNames.map { Argument($0, "t") })
        }
    }
    package struct Property: Hashable, Sendable {
        package enum Access: String, Sendable { case read, write, readwrite }
        /// What `PropertiesChanged` reports of a change (specification, "EmitsChangedSignal").
        package enum Emission: String, Sendable {
            case value = "true"
            case invalidation = "invalidates"
            case constant = "const"
            case never = "false"
        }
        package let argument: Argument
        package let access: Access
        package let emission: Emission
        package init(_ argument: Argument, _ access: Access = .read, emits emission: Emission = .value) {
            (self.argument, self.access, self.emission) = (argument, access, emission)
        }
    }

    package let name: String
    package var methods: [Method]
    package var signals: [Signal]
    package var properties: [Property]
    package var annotations: [Annotation]

    package init(
        _ name: String, methods: [Method] = [], signals: [Signal] = [], properties: [Property] = [],
        annotations: [Annotation] = []
    ) {
        (self.name, self.methods, self.signals) = (name, methods, signals)
        (self.properties, self.annotations) = (properties, annotations)
    }

    /// Throws `.invalidArgument` for a bad or doubled name, or an argument that is not of one complete type.
    package func check() throws(RelayError) {
        try BusNames.check(name, as: .interface)
        let lists = [methods.map(\.name), signals.map(\.name), properties.map(\.argument.name)]
        for names in lists {
            var seen: Set<String> = []
            for member in names {
                try BusNames.check(member, as: .member)
                if !seen.insert(member).inserted {
                    throw RelayError(.invalidArgument, "\(name) has two members of one kind named '\(member)'")
                }
            }
        }
        let arguments =
            methods.flatMap { $0.inputs + $0.outputs } + signals.flatMap(\.arguments) + properties.map(\.argument)
        for argument in arguments {
            try BusNames.check(argument.name, as: .member)
            if try Signature(argument.signature).types.count != 1 {
                throw RelayError(
                    .invalidArgument, "\(name), argument '\(argument.name)': '\(argument.signature)' is not one type")
            }
        }
    }
}

/// The interfaces that the D-Bus specification gives to every object ("Standard Interfaces").
package enum StandardInterfaces {
    package static let introspectable = InterfaceDescription(
        "org.freedesktop.DBus.Introspectable",
        methods: [.init("Introspect", out: [.init("xml_data", "s")])])

    package static let properties = InterfaceDescription(
        "org.freedesktop.DBus.Properties",
        methods: [
            .init(
                "Get", in: [.init("interface_name", "s"), .init("property_name", "s")], out: [.init("value", "v")]),
            .init(
                "Set", in: [.init("interface_name", "s"), .init("property_name", "s"), .init("value", "v")]),
            .init("GetAll", in: [.init("interface_name", "s")], out: [.init("properties", "a{sv}")]),
        ],
        signals: [
            .init(
                "PropertiesChanged",
                [
                    .init("interface_name", "s"), .init("changed_properties", "a{sv}"),
                    .init("invalidated_properties", "as"),
                ])
        ])

    package static let peer = InterfaceDescription(
        "org.freedesktop.DBus.Peer",
        methods: [.init("Ping"), .init("GetMachineId", out: [.init("machine_uuid", "s")])])

    package static let all = [introspectable, properties, peer]
}
