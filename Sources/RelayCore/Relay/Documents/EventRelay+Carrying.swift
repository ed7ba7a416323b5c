import RelayWire

/// Submissions to a service that has the document in another version than this program.
extension EventRelay {
    /// Submits a document's next state.
    ///
    /// Where the service's contract has other fields, its own state of the base version is read first, and what this
    /// program does not know of it is carried along.
    ///
    /// - Parameter isRepeated: the operation may have been submitted before.
    func submission<Document: EditableDocument>(
        _ command: SubmitDocument<Document>, isRepeated: Bool, timeout: Duration
    ) async -> SubmitOutcome<Document> {
        let deadline = ContinuousClock.now + timeout
        func left() -> Duration { max(.milliseconds(1), deadline - .now) }
        var outcome = await outcome(of: command, timeout: timeout)
        var (attempts, isDoubted) = (0, false)
        while case .failed(let error) = outcome, let other = error.cause as? OtherDocument, attempts < 4 {
            attempts += 1
            do {
                let (codec, call) = try prepare(command)
                guard let base = try await base(of: command, timeout: left()) else {
                    // What it was based on is gone; whether by an earlier call of this operation, nobody knows.
                    return SubmitOutcome(.refused(isRepeated ? .forgotten : .conflict), isRepeated: isRepeated)
                }
                let carried = try other.call(call, command, over: base)
                let reply = try await follower.core.calls.call(carried, timeout: left())
                outcome = codec.outcome(of: .success(reply))
            } catch let error as RelayError {
                // The service has one more contract by now: either it has said so, or its state does not fit.
                let isOther = (error.cause as? RemoteError)?.name == ErrorNames.unknownObject
                if isOther || error.code == .schemaMismatch && !error.mayHaveRun && !isDoubted {
                    isDoubted = true
                    follower.core.calls.doubt(other.contract)
                    outcome = await self.outcome(of: command, timeout: left())
                } else {
                    outcome = (try? prepare(command).codec.outcome(of: error)) ?? .failed(error)
                }
            } catch {
                outcome = .failed(RelayError(.internalFailure, "\(Document.name): \(error)", cause: error))
            }
        }
        return SubmitOutcome(outcome, isRepeated: isRepeated)
    }
    /// The state that a submission is based on, as the service has it; nil if that is not the present one.
    private func base<Document: EditableDocument>(
        of command: SubmitDocument<Document>, timeout: Duration
    ) async throws -> DocumentBases.Base? {
        let name = "\(Document.Interface.name).\(Document.name)"
        if let known = bases.base(of: name, command.basis) { return known }
        let (snapshot, fields) = try await DocumentReader<Document>().snapshot(follower, timeout: timeout)
        // The epoch may be that of an earlier run: whether that led to this one, the service decides.
        guard snapshot.version.sequence == command.sequence else { return nil }
        let base = DocumentBases.Base(fields: fields, body: snapshot.fields)
        bases.keep(base, of: name, command.basis)
        return base
    }
}

/// The service's contract has a document in another version than this program: the cause of the error that a submission
/// ends with before it is sent.
struct OtherDocument: Error {
    let contract: ServiceContract
    let form: CommandForm
    /// The arguments of the command, by the contract.
    let arguments: [WireField]

    /// The call that submits a state over its base, for this contract alone.
    func call<Document: EditableDocument>(
        _ call: MethodCall, _ command: SubmitDocument<Document>, over base: DocumentBases.Base
    ) throws(RelayError) -> MethodCall {
        func state(_ fields: [WireField]) throws(RelayError) -> [WireField] {
            guard case .structure(let fields)? = fields.first(where: { $0.name == "state" })?.type else {
                throw RelayError(.schemaMismatch, "\(form.name) has no state; nothing was sent")
            }
            return fields
        }
        let carried = CarriedState(
            document: Document.name, ours: try state(form.arguments), theirs: try state(arguments))
        let own = try DBusValue.decode(signature: form.signature, body: call.body)
        var values: [String: DBusValue] = [:]
        for (field, value) in zip(form.arguments, own) { values[field.name] = value }
        guard case .structure(let fields)? = values["state"] else {
            throw RelayError(.internalFailure, "\(form.name) has no state")
        }
        let next = try DBusValue.body(fields)
        values["state"] = .structure(try carried.merged(next, base: base.body, base.fields))
        var sent = call
        sent.path = contract.id.path(of: form.path)
        sent.signature = try Signature(arguments.signature)
        sent.body = try DBusValue.body(
            arguments.map { field throws(RelayError) in
                guard let value = values[field.name] else {
                    throw RelayError(
                        .schemaMismatch,
                        "\(form.name): the service needs '\(field.name)', which this program does not know; nothing was sent: "
                            + "update this program")
                }
                return value
            })
        return sent
    }
}
