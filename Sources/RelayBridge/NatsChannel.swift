import RelayCore
package import RelayMirrors

/// A channel as NATS has it: a stream of JetStream's, and the subjects of its messages.
///
///     stream   relay1~kitchen~org~example~Printer~~org~example~Printing1
///     subject  relay1.kitchen.org~example~Printer.org~example~Printing1.page
///
/// A name's dots become `~`, which no name of D-Bus has: so a service is one token of a subject, and a host's permission
/// is `relay1.HOST.>`.
package struct NatsChannel: Hashable, Sendable {
    private static let prefix = "relay1"
    package let name: ChannelName
    package let stream: String
    /// Of subjects. Made once: each message has one.
    private let base: String

    package init(_ name: ChannelName) {
        func token(_ name: String) -> String { name.replacing(".", with: "~") }
        self.name = name
        stream = "\(Self.prefix)~\(name.host)~\(token(name.service))~~\(token(name.interface))"
        base = "\(Self.prefix).\(name.host).\(token(name.service)).\(token(name.interface))"
    }
    /// nil: no channel's stream.
    package init?(stream: String) {
        let halves = stream.split(separator: "~~", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let words = halves[0].split(separator: "~", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == Self.prefix else { return nil }
        func dotted(_ text: Substring) -> String { String(text.replacing("~", with: ".")) }
        do throws(RelayError) {
            self.init(
                try ChannelName(host: String(words[1]), service: dotted(words[2]), interface: dotted(halves[1])))
        } catch { return nil }
    }

    /// Of all messages.
    package var subjects: String { "\(base).*" }
    /// Of one message.
    ///
    /// - Parameter kind: what its header says; nil: what nobody can read.
    package func subject(_ kind: MirrorHeader.Kind?) -> String {
        switch kind {
        case .page: "\(base).page"
        case .snapshot: "\(base).snapshot"
        case nil: "\(base).other"
        }
    }
}
