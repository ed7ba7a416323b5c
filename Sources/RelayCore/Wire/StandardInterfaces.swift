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
