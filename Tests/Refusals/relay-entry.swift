// expect: 'deliver' is inaccessible due to 'package' protection level
import RelayCore
import Relocation

func forge(_ events: EventPublisher) {
    events.deliver(
        BoxRemoved(boxID: 1), stamp: Stamp(epoch: 1, sequence: 1, previous: 0, publishedAt: .now))
}
