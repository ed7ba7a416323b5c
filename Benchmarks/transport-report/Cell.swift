/// One thing that is measured, once a round.
public struct Cell: Hashable, Codable, Sendable, CustomStringConvertible {
    public enum Section: String, Codable, CaseIterable, Sendable {
        /// For how long the machine stops the sender's, or the receiver's processor, while both spin.
        case senderStops, receiverStops
        /// One way, at a steady pace.
        case latency
        /// As fast as nothing is lost.
        case lossless
        /// As fast as the sender can.
        case fullSpeed
        /// One way, to several receivers.
        case fanOut
        /// A publish at the caller, with so many receivers that are stopped.
        case publish
        /// A publish to so many receivers that all sleep.
        case wake
    }
    public let section: Section
    public let contender: Contender
    public let waiting: Waiting
    public let size: Int
    public let receivers: Int

    public init(
        _ section: Section, _ contender: Contender, _ waiting: Waiting = .block, size: Int = 64, receivers: Int = 1
    ) {
        (self.section, self.contender, self.waiting) = (section, contender, waiting)
        (self.size, self.receivers) = (size, receivers)
    }
    public var description: String {
        "\(section.rawValue) \(contender.rawValue) \(waiting.rawValue) \(size) bytes to \(receivers)"
    }
}
