import RelayWire

/// Who a peer is, as the bus learnt it from the kernel when the peer connected.
///
/// The process id is for messages to people only: by the time it is looked up it may be another's.
package struct PeerCredentials: Hashable, Sendable {
    package var userID: UInt32?
    package var groupIDs: Set<UInt32> = []
    package var processID: UInt32?
    package var securityLabel: String?
    /// The systemd unit of the process that connected. It has ended when the unit is read: then it is not known.
    package var unit: PeerUnit

    package init(
        userID: UInt32?, groupIDs: Set<UInt32> = [], processID: UInt32? = nil, securityLabel: String? = nil,
        unit: PeerUnit = .unknown(PeerCredentials.noProcess)
    ) {
        (self.userID, self.groupIDs) = (userID, groupIDs)
        (self.processID, self.securityLabel, self.unit) = (processID, securityLabel, unit)
    }
    package static let noProcess =
        "this bus reports no ProcessFD: it takes dbus-daemon 1.16 or dbus-broker 34 and Linux 6.5, or later"

    /// From the answer of `GetConnectionCredentials`, a dictionary of variants; a value of another type than the
    /// specification requires counts as unknown.
    ///
    /// - Parameter readsUnit: whether the unit is looked up, if the bus reports a descriptor of the process.
    package init(_ reply: BusReply, readsUnit: Bool = false) throws(RelayError) {
        guard reply.signature == "a{sv}", case .dictionary(_, let entries)? = try reply.values().first else {
            throw RelayError(.schemaMismatch, "the bus answered GetConnectionCredentials with '\(reply.signature)'")
        }
        self.init(userID: nil)
        for entry in entries {
            guard case .string(let key) = entry.key, case .variant(let value) = entry.value else { continue }
            switch (key, value) {
            case ("UnixUserID", .uint32(let id)): userID = id
            case ("ProcessID", .uint32(let id)): processID = id
            case ("UnixGroupIDs", .array(_, let ids)):
                groupIDs = Set(ids.compactMap { if case .uint32(let id) = $0 { id } else { nil } })
            case ("ProcessFD", .unixFD):
                // The only one that came: `ReceivedMessage.processDescriptor`.
                guard readsUnit, let process = reply.descriptors.first else { break }
                unit = process.withNumber { PeerUnit(ofProcess: $0) }
            case ("LinuxSecurityLabel", .bytes(let label)):
                securityLabel = String(decoding: label.prefix { $0 != 0 }, as: UTF8.self)
            default: break
            }
        }
    }

    /// The request that answers with them.
    package static func request(for peer: String) throws(RelayError) -> MethodCall {
        var body = WireWriter()
        try body.string(peer)
        return .toBus("GetConnectionCredentials", try Signature("s"), body: body.bytes)
    }
}

extension PeerRequirement {
    /// Asks the bus for the credentials of a peer, unless nothing has to be known. The completion comes on the loop's
    /// thread.
    package func check(
        _ peer: String, on connection: BusConnection, accounts: some AccountDirectory & Sendable,
        completion: @escaping @Sendable (Result<PeerCredentials?, RelayError>) -> Void
    ) {
        if isAnyone { return completion(.success(nil)) }
        do throws(RelayError) {
            // Soon asked again: see `SessionController.orderRecheck`.
            connection.send(try PeerCredentials.request(for: peer), timeout: connection.timing.answer) { result in
                do throws(RelayError) {
                    let reply = try result.get()
                    let credentials = try PeerCredentials(reply, readsUnit: needsUnit)
                    switch decision(on: credentials, accounts: accounts) {
                    case .met: return completion(.success(credentials))
                    // Neither would another answer change.
                    case .unknown(let reason) where needsUnit && reply.descriptors.isEmpty:
                        throw RelayError(.notPermitted, "\(peer) cannot be checked: \(reason)")
                    case .ask(let action):
                        throw RelayError(.notPermitted, "\(peer) cannot be checked: polkit action '\(action)'")
                    case .unknown(let reason):
                        throw RelayError(.timedOut, "\(peer) cannot be checked: \(reason)")
                    case .notMet:
                        let who = credentials.userID.map { "user \($0)" } ?? "an unknown user"
                        throw RelayError(.notPermitted, "\(peer) is \(who), required is \(self)")
                    }
                } catch {
                    completion(.failure(error))
                }
            }
        } catch {
            completion(.failure(error))
        }
    }
}
