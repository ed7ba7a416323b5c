/// How relays join, and what they have to know to read the events. On the loop's thread.
final class Attachments: Sendable {
    /// The features of the attached peers, as they last reported them.
    let features: LoopBound<[String: Set<StreamFeature>]>
    private let replies: ReplySender
    private let rings: RingHandout
    private let reads: LogReads
    /// Whether the service has ended because nobody uses it, and who would have since.
    private let closing: LoopBound<(isClosed: Bool, hasRefused: Bool)>
    private let loop: BusLoop

    init(_ replies: ReplySender, _ rings: RingHandout, _ reads: LogReads, _ loop: BusLoop) {
        (self.replies, self.rings, self.reads, self.loop) = (replies, rings, reads, loop)
        features = LoopBound([:], on: loop)
        closing = LoopBound((false, false), on: loop)
    }
    /// Takes nobody in any more: an answer would promise events, or `End`, of a service that gives its name up.
    func close() {
        closing.onLoop.isClosed = true
        rings.close()
    }
    func hasRefused() async -> Bool {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in continuation.resume(returning: closing.onLoop.hasRefused) }
        }
    }
    func attach(_ call: IncomingCall, _ interface: ExportedInterface) {
        guard let request = call.read({ try Stream1.readAttach(&$0) }), request.names.count <= Stream1.maximumNames
        else {
            return replies.fail(call, ErrorNames.invalidArgs, "Attach takes up to \(Stream1.maximumNames) names")
        }
        if let name = interface.unknown(request.names) {
            return replies.fail(call, .notFound, "\(interface.name) has no event '\(name)'")
        }
        if closing.onLoop.isClosed, !request.names.isEmpty {
            closing.onLoop.hasRefused = true
            return replies.fail(
                call, .unavailable, "the service has just ended because nobody used it: attach to its next run")
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
