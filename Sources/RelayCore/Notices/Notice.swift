public import RelayEvents

/// A report of a running service, journal or relay: what happened, and what to do about it.
///
/// ```swift
/// let service = try EventService(name: "org.example.Printer", exporting: Printing1.self, journal: journal) { notice in
///     log("\(notice.kind.rawValue): \(notice)")
/// }
/// ```
///
/// A notice names peers, users, interfaces and files. Its texts never contain the fields of an event or a command; only
/// ``cause`` can.
public struct Notice: Sendable, CustomStringConvertible {
    /// What a notice is about, for filters. More may be added: compare kinds, and never switch over them without a
    /// default.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
    /// How urgent a notice is.
    public enum Severity: Comparable, Sendable {
        /// An earlier problem is over, or no action is needed.
        case info
        /// A peer lost events or was refused; the service continues.
        case warning
        /// The service cannot do its work until an administrator acts.
        case error
    }
    /// What a notice concerns, for filters. Unknown parts are nil.
    public struct Subject: Hashable, Sendable {
        /// The name of the interface.
        public var interface: String?
        /// The unique name of the peer.
        public var peer: String?
        /// The sequence of the event.
        public var sequence: UInt64?
        /// The error that the peer received, or the reason why an attempt failed.
        public var code: RelayError.Code?

        /// A subject with the parts that are known.
        ///
        /// - Parameter interface: the name of the interface.
        /// - Parameter peer: the unique name of the peer.
        /// - Parameter sequence: the sequence of the event.
        /// - Parameter code: the error.
        package init(
            interface: String? = nil, peer: String? = nil, sequence: UInt64? = nil, code: RelayError.Code? = nil
        ) { (self.interface, self.peer, self.sequence, self.code) = (interface, peer, sequence, code) }
    }
    /// What the notice is about.
    public let kind: Kind
    /// How urgent the notice is.
    public let severity: Severity
    /// Tells a person what happened, with which value, and what to do.
    public let message: String
    /// What it concerns: the interface, the peer, the event, the error.
    public let subject: Subject
    /// How many notices of this kind were left out since the last one. At most five of a kind are reported at once,
    /// then one a minute.
    public package(set) var suppressed: Int
    /// The error behind it: of a handler that threw, of the bus, of a file.
    ///
    /// That of a handler is the handler's own value: its text may contain fields of the event or the command. `message`
    /// names only its type.
    public let cause: (any Error)?

    package init(
        _ kind: Kind, _ severity: Severity, _ message: String, of subject: Subject = Subject(), suppressed: Int = 0,
        cause: (any Error)? = nil
    ) {
        (self.kind, self.severity, self.message, self.subject) = (kind, severity, message, subject)
        (self.suppressed, self.cause) = (suppressed, cause)
    }
    /// The message, and how many notices were left out.
    public var description: String { suppressed == 0 ? message : "\(message) (and \(suppressed) more)" }
}

extension Notice.Kind {
    /// A peer was refused because it, its user or all peers together exceed a limit.
    public static let limitsExceeded = Self(rawValue: "LimitsExceeded")
    /// A peer was refused because it does not meet a requirement.
    public static let notPermitted = Self(rawValue: "NotPermitted")
    /// A look-up gave no answer in time: the user of a peer or of the bus, or the number of a user or group.
    public static let lookUpFailed = Self(rawValue: "LookUpFailed")
    /// An interface's ring, or a peer's part in it, could not be created.
    public static let ringUnavailable = Self(rawValue: "RingUnavailable")
    /// An interface's signals have been paused for 10 s. Subscribers that read neither the ring nor the journal lose
    /// events.
    public static let signalsPaused = Self(rawValue: "SignalsPaused")
    /// The bus does not report which replies peers have not read, so their number cannot be bounded.
    public static let unreadUnknown = Self(rawValue: "UnreadUnknown")
    /// A commit of the journal has taken more than five seconds so far, or has ended after that time: the disk is slow.
    public static let commitDelayed = Self(rawValue: "CommitDelayed")
    /// A command's handler threw an error that the command does not declare.
    public static let commandFailed = Self(rawValue: "CommandFailed")
    /// The journal could not be read for a peer, whose call was refused.
    public static let readFailed = Self(rawValue: "ReadFailed")
    /// The journal has no room, so commits are refused, or it has room again.
    public static let storageFull = Self(rawValue: "StorageFull")
    /// A subscription's handler threw: it is called again with the same event, or its subscription has ended.
    public static let handlerFailed = Self(rawValue: "HandlerFailed")
    /// A position of `.resuming` could not be written, or was found damaged. If it was not written, some events come again
    /// after the next start. If it is damaged, for example after a power loss, an older copy is used.
    public static let cursorFailed = Self(rawValue: "CursorFailed")
    /// Something keeps the relay from the bus, or from a ring or a long replay: reported once for each outage. Without a
    /// ring, or a socket for a replay, events still arrive, but more slowly.
    public static let connectionFailed = Self(rawValue: "ConnectionFailed")
    /// The service lacks an interface that has a subscription.
    public static let interfaceMissing = Self(rawValue: "InterfaceMissing")
    /// A relay's publisher has a subscription to a domain event that the relay does not follow: nothing will come.
    public static let notFollowed = Self(rawValue: "NotFollowed")
    /// An object was released while it was subscribed, which ended its subscription: nobody else held it.
    public static let subscriberReleased = Self(rawValue: "SubscriberReleased")
}
