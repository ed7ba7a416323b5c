import Synchronization

/// Whether a relay's subscribers have had everything that has come: tests wait for that.
extension SessionController: SettlingHandler {
    package var unsettled: String? {
        for stream in streams.all {
            for member in stream.members where member.feed?.isSettled == false {
                return "a handler of \(stream.interface) has not returned; the relay of \(service)"
            }
            // A query that found nobody is sent again when there is somebody. (One that was refused may be for ever.)
            for member in stream.members
            where owner.name != nil && member.feed?.followed.load(ordering: .relaxed) == .unreachable {
                return "a query for the state of \(stream.interface) is to be sent again; the relay of \(service)"
            }
        }
        if (sink as? RelayReceivers)?.isIdle == false { return "subscribers of \(service) have not had their events" }
        return nil
    }
}
