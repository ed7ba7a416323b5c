import RelayWire

/// How a command is called by one contract: made once for it.
struct CallPlan: Sendable {
    /// The object that runs it for this contract only.
    private let path: String
    private let signature: Signature
    /// Of the arguments, the reply and the progress; nil where both sides have the same.
    private let arguments: WireTranslation?
    private let reply: WireTranslation?
    private let progress: WireTranslation?
    /// Of the reply and of the progress, as the service sends them and as this program reads them.
    private let signatures: (reply: Signatures, progress: Signatures)

    private struct Signatures {
        let theirs, ours: String
        init(_ theirs: [WireField], _ ours: [WireField]) {
            (self.theirs, self.ours) = (theirs.signature, ours.signature)
        }
    }

    /// Throws `NotFound` for a command that the service does not have, and `SchemaMismatch` for one that has other
    /// fields than this program can send or read. Nothing was sent then.
    init(of form: CommandForm, for contract: ServiceContract) throws(RelayError) {
        let interface = try contract.interface(form.interface)
        guard let theirs = interface.calls.first(where: { $0.name == form.name }) else {
            throw RelayError(
                .notFound,
                "the service has no command \(form.name) in \(form.interface); nothing was sent: update the service")
        }
        path = contract.id.path(of: form.path)
        if form.submitsDocument, form.arguments != theirs.arguments {
            // Which fields this program does not know, their present values decide.
            throw RelayError(
                .schemaMismatch, "\(form.name): the service has other fields than this program; nothing was sent",
                cause: OtherDocument(contract: contract, form: form, arguments: theirs.arguments))
        }
        arguments = try Self.translation(form.arguments, theirs.arguments, .asking, form.name) {
            "this program sends \($0), the service takes \($1)"
        }
        signature = arguments == nil ? form.signature : try Signature(theirs.arguments.signature)
        reply = try Self.translation(theirs.reply, form.reply, .reading, form.name) {
            "the service replies with \($0), this program reads \($1)"
        }
        signatures = (
            Signatures(theirs.reply, form.reply), Signatures(theirs.progress ?? [], form.progress ?? [])
        )
        guard let theirs = theirs.progress, let ours = form.progress else {
            progress = nil
            return
        }
        progress = try Self.translation(theirs, ours, .reading, form.name) {
            "the service reports \($0), this program reads \($1)"
        }
    }
    private static func translation(
        _ sender: [WireField], _ receiver: [WireField], _ rule: WireTranslation.Rule, _ name: String,
        _ shapes: (String, String) -> String
    ) throws(RelayError) -> WireTranslation? {
        do throws(RelayError) {
            let translation = try WireTranslation(from: sender, to: receiver, rule, of: name)
            return translation.isIdentity ? nil : translation
        } catch {
            let shapes = shapes(SchemaDifference.text(sender), SchemaDifference.text(receiver))
            throw RelayError(.schemaMismatch, "\(error.message) (\(shapes)); nothing was sent", cause: error)
        }
    }
    /// Makes a call of this program one of the contract's. Throws `SchemaMismatch` for a value that the service would
    /// lose.
    func apply(to call: inout MethodCall) throws(RelayError) {
        (call.path, call.signature) = (path, signature)
        guard let arguments else { return }
        do throws(RelayError) { call.body = try arguments.translate(call.body) } catch {
            throw RelayError(error.code, "\(error.message); nothing was sent", cause: error)
        }
    }
    /// The answer as this program reads it. An answer of other fields than the contract has stays as it is.
    func read(_ result: Result<BusReply, RelayError>, of name: String) -> Result<BusReply, RelayError> {
        guard let translation = reply, case .success(let answer) = result, answer.signature == signatures.reply.theirs
        else { return result }
        do throws(RelayError) {
            return .success(
                BusReply(
                    sender: answer.sender, signature: signatures.reply.ours,
                    body: try translation.translate(answer.body),
                    descriptors: answer.descriptors, transferred: answer.transferred))
        } catch {
            return .failure(
                RelayError(
                    .schemaMismatch, "\(name) has run, and its reply cannot be read: \(error.message)", cause: error,
                    mayHaveRun: true))
        }
    }
    /// A value of progress as this program reads it; nil for one that it cannot read.
    func read(progress signature: String, _ body: [UInt8]) -> (signature: String, body: [UInt8])? {
        guard let translation = progress else { return (signature, body) }
        guard signature == "(\(signatures.progress.theirs))", let body = try? translation.translate(body) else {
            return nil
        }
        return ("(\(signatures.progress.ours))", body)
    }
}
