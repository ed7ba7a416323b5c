// expect: 'SnapshotReply'
import RelayCore
import Relocation
func start(_ relay: EventRelay) throws -> Subscription {
    try relay.follow(Relocation1.self, asking: RemoveBox(boxID: 1)) { reply in
        print(reply)
    } then: { event in
        print(event)
    } onFailure: { error in
        print(error)
    }
}
