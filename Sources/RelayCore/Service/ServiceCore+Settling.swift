/// Whether a service has done everything that it was asked for: tests wait for that.
extension ServiceCore: SettlingHandler {
    package var unsettled: String? {
        let peers = queues.count
        if peers > 0 { return "\(name): handlers of \(peers) peer\(peers == 1 ? "" : "s") have not returned; let them" }
        if !state.onLoop.lookUps.isEmpty { return "\(name): it is not known yet who its callers are" }
        if !state.onLoop.heldReplies.isEmpty { return "\(name): replies wait until their peers have read others" }
        return nil
    }
}
