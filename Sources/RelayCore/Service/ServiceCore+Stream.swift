/// `Stream1`: how relays join, and what they have to know to read the events.
extension ServiceCore {
    func stream(_ call: IncomingCall, _ interface: ServedInterface, _ connection: BusConnection) {
        switch call.member {
        case "Attach":
            guard hasSignature(Stream1.attachSignature, call, connection) else { return }
            if interface.lane.isRestricted {
                credentials(of: call.sender, connection) { [weak self] credentials in
                    guard let self else { return }
                    if let refusal = refusal(of: credentials, interface.requirement, interface.name, call) {
                        return fail(call, ErrorNames.name(for: .notPermitted), refusal, connection)
                    }
                    attach(call, interface, connection)
                }
            } else {
                attach(call, interface, connection)
            }
        case "Schemas":
            guard hasSignature("", call, connection) else { return }
            var body = WireWriter()
            do throws(RelayError) {
                try Stream1.write(interface.schemas, into: &body)
                connection.reply(to: call, try Signature(Stream1.schemasSignature), body: body.bytes)
            } catch {
                fail(call, ErrorNames.name(for: error.code), error.message, connection)
            }
        default: unknown(call, connection)
        }
    }
    private func attach(_ call: IncomingCall, _ interface: ServedInterface, _ connection: BusConnection) {
        let request = call.body.withUnsafeBytes { body in
            var reader = WireReader(body)
            return try? Stream1.readAttach(&reader)
        }
        guard let request, request.names.count <= Stream1.maximumNames else {
            return fail(call, ErrorNames.invalidArgs, "Attach takes up to \(Stream1.maximumNames) names", connection)
        }
        if let name = request.names.first(where: { $0 != Stream1.allNames && !interface.lane.names.contains($0) }) {
            return fail(call, ErrorNames.name(for: .notFound), "\(interface.name) has no event '\(name)'", connection)
        }
        interface.lane.attach(call.sender, epoch: request.epoch, after: request.after, names: request.names) { answer in
            var body = WireWriter()
            // Names and numbers of ours: nothing here can be refused.
            guard (try? Stream1.write(answer, into: &body)) != nil,
                let signature = try? Signature(Stream1.attachmentSignature)
            else { return }
            connection.reply(to: call, signature, body: body.bytes)
        }
    }
}
