public import RelayCore

/// The host that the samples are of: what hardly changes.
public struct Host: DomainDocument, Hashable {
    public typealias Interface = Telemetry1
    public static let about = About(
        "The host that the samples are of.",
        fields: [
            "name": "its host name", "system": "of the kernel", "release": "of the kernel",
            "machine": "the kind of hardware", "processors": "those that are online",
            "memory": .unit("bytes", "as much as the kernel manages"),
            "links": "its network interfaces",
        ])
    public static let initial = Self(
        name: "", system: "", release: "", machine: "", processors: 0, memory: 0, links: [])

    public let name: String
    public let system: String
    public let release: String
    public let machine: String
    public let processors: Int32
    public let memory: UInt64
    public let links: [String]

    public init(
        name: String, system: String, release: String, machine: String, processors: Int32, memory: UInt64,
        links: [String]
    ) {
        (self.name, self.system, self.release, self.machine) = (name, system, release, machine)
        (self.processors, self.memory, self.links) = (processors, memory, links)
    }
}
