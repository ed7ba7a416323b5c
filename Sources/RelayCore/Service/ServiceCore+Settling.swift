/// Whether a service has done everything that it was asked for: tests wait for that.
extension ServiceCore: SettlingHandler {
    package var unsettled: String? {
        let peers = queues.count
        if peers > 0 { return "\(name): handlers of \(peers) peer\(peers == 1 ? "" : "s") have not returned; let them" }
        if directory.waitingCount > 0 { return "\(name): it is not known yet who its callers are" }
        if !gate.state.onLoop.queue.isEmpty { return "\(name): polkit has not said what its callers may do" }
        if permissions.state.onLoop.recheck.isRunning { return "\(name): polkit is asked again about its peers" }
        if !replies.state.onLoop.held.isEmpty { return "\(name): replies wait until their peers have read others" }
        return nil
    }
}
