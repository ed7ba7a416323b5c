/// `Read`: pages of what the log keeps.
extension ServiceCore {
    /// Bytes of names, signatures and bodies in a page.
    private static let pageLength = 256 << 10

    func read(_ call: IncomingCall, _ interface: ServedInterface, _ connection: BusConnection) {
        guard call.wantsReply else { return }
        guard let log = interface.log else {
            let text = "\(interface.name) is volatile: nothing of it can be read again"
            return fail(call, ErrorNames.name(for: .notFound), text, connection)
        }
        let request = call.body.withUnsafeBytes { body in
            var reader = WireReader(body)
            return try? Stream1.readRead(&reader)
        }
        guard let request, 1...Stream1.maximumNames ~= request.names.count else {
            let text = "Read takes 1 to \(Stream1.maximumNames) names; '\(Stream1.allNames)' stands for all"
            return fail(call, ErrorNames.invalidArgs, text, connection)
        }
        if let name = interface.unknown(request.names) {
            let text = "\(interface.name) has no event '\(name)'"
            return fail(call, ErrorNames.name(for: .notFound), text, connection)
        }
        let wanted = LogRequest(
            interface: interface.name, names: request.names.contains(Stream1.allNames) ? nil : Set(request.names),
            after: request.after, limit: request.limit == 0 ? Int(Int32.max) : Int(request.limit),
            byteLimit: Self.pageLength)
        log.storage.read(wanted) { [weak self] result in
            // On a thread of the log's: the loop's has others to serve.
            self?.answer(call, interface, log, result, connection)
        }
    }
    private func answer(
        _ call: IncomingCall, _ interface: ServedInterface, _ log: ServedLog, _ result: Result<LogPage, RelayError>,
        _ connection: BusConnection
    ) {
        do throws(RelayError) {
            let page = try result.get()
            var body = WireWriter(capacity: Self.pageLength * 2)
            try Stream1.write(
                page, token: UInt64.random(in: 1...UInt64.max), signatures: log.signatures, into: &body)
            // Before it leaves: the peer may attach with it as soon as it has it.
            interface.lane.handOut(through: page.through)
            connection.reply(to: call, try Signature(Stream1.pageSignature), body: body.bytes)
        } catch {
            let text = "the journal could not be read for \(interface.name)"
            fail(call, ErrorNames.name(for: error.code), text, connection)
        }
    }
}
