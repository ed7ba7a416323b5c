/// Whether a service has done everything that it was asked for: tests wait for that.
extension ServiceCore: SettlingHandler {
    package var unsettled: String? {
        let commands = queues.count
        if commands > 0 { return "\(name): \(commands) calls run or wait; let their handlers return" }
        if !state.onLoop.lookUps.isEmpty { return "\(name): it is not known yet who its callers are" }
        if !state.onLoop.heldReplies.isEmpty { return "\(name): replies wait until their peers have read others" }
        return nil
    }
}
