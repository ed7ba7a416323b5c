import RelayWire

/// What this program sends and reads of a command, and what that becomes by a service's contract.
final class CommandForm: @unchecked Sendable {  // Immutable but for the plan, which is used in a turn of the loop only.
    let interface: String
    let name: String
    /// The object's, without a contract.
    let path: String
    let signature: Signature
    let arguments: [WireField]
    let reply: [WireField]
    let progress: [WireField]?
    /// It submits a document's state, in which fields may be that this program does not know.
    let submitsDocument: Bool
    /// How long a call waits whose caller does not say.
    let patience: Duration
    /// Of the contract that was asked for last: that of the present service.
    private var plan: (contract: ServiceContract, result: Result<CallPlan, RelayError>)?

    init(
        _ interface: String, _ name: String, _ arguments: WireSchema, reply: WireSchema, progress: WireSchema?,
        submitsDocument: Bool = false, asksPeople: Bool = false
    ) throws(RelayError) {
        (self.interface, self.name, path) = (interface, name, Stream1.path(of: interface))
        signature = try Signature(arguments.signature)
        self.submitsDocument = submitsDocument
        // A service gives a person 120 seconds, and asks polkit before and after.
        patience = .seconds(asksPeople ? 150 : 25)
        (self.arguments, self.reply, self.progress) = (arguments.fields, reply.fields, progress?.fields)
    }
    /// How the command is called by a contract. Fails where it cannot be: nothing was sent then.
    func plan(for contract: ServiceContract) -> Result<CallPlan, RelayError> {
        if let plan, plan.contract === contract { return plan.result }
        let result = Result { () throws(RelayError) in try CallPlan(of: self, for: contract) }
        plan = (contract, result)
        return result
    }
}
