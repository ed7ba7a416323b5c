/// How relays join, and what they have to know to read the events. On the loop's thread.
final class Attachments: Sendable {
    /// The features of the attached peers, as they last reported them.
    let features: LoopBound<[String: Set<StreamFeature>]>
    private let replies: ReplySender
    private let rings: RingHandout
    private let reads: LogReads

    init(_ replies: ReplySender, _ rings: RingHandout, _ reads: LogReads, _ loop: BusLoop) {
        (self.replies, self.rings, self.reads) = (replies, rings, reads)
        features = LoopBound([:], on: loop)
    }
    func attach(_ call: IncomingCall, _ interface: ExportedInterface) {
        guard let request = call.read({ try Stream1.readAttach(&$0) }), request.names.count <= Stream1.maximumNames
        else {
            return replies.fail(call, ErrorNames.invalidArgs, "Attach takes up to \(Stream1.maximumNames) names")
        }
        if let name = interface.unknown(request.names) {
            return replies.fail(call, .notFound, "\(interface.name) has no event '\(name)'")
        }
        let names = interface.kept(request.names)
        rings.settlePage(of: call.sender)
        features.onLoop[call.sender] = request.options.features
        let question = interface.stream.attach(call.sender, request, names: names) { reply(to: call, $0) }
        // A run of long ago.
        guard let question, let log = interface.log else { return }
        reads.find(question, in: interface.name, log, for: call) { [weak self] common in
            interface.stream.attach(common, names: names) { self?.reply(to: call, $0) }
        }
    }
    private func reply(to call: IncomingCall, _ answer: Attachment) {
        replies.reply(to: call, Stream1.attachmentSignature) { body throws(RelayError) in
            try Stream1.write(answer, into: &body)
        }
    }
    /// Reports how far the stream has come, behind everything that this counts.
    func barrier(_ call: IncomingCall, _ interface: ExportedInterface) {
        interface.stream.withHead { head in
            replies.reply(to: call, Stream1.headSignature) { body throws(RelayError) in
                try Stream1.write(head, into: &body)
            }
        }
    }
    func schemas(_ call: IncomingCall, _ interface: ExportedInterface) {
        replies.reply(to: call, Stream1.schemasSignature) { body throws(RelayError) in
            try Stream1.write(interface.schemas, into: &body)
        }
    }
    /// A peer has left.
    func depart(_ peer: String) { features.onLoop[peer] = nil }
}
