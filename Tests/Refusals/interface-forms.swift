// expect: nothing
// Whole interfaces and followed states, in a function, a method, an actor and a task.
import RelayCore
import Relocation

@MainActor final class View {
    var lines: [String] = []
    var subscriptions: [Subscription] = []
    func on(_ event: Relocation1) {
        switch event {
        case .boxProvisioned(let box): lines.append(box.title)
        default: break
        }
    }
    func onGap(_ gap: Gap) { lines.append("\(gap)") }
    func start(_ relay: EventRelay) throws {
        try relay.subscribe(self, to: Relocation1.self, from: .beginning) {
            $0.on($1)
        } onGap: {
            $0.onGap($1)
        }
        subscriptions = [
            try relay.subscribe(to: Relocation1.self, from: .since(.now)) { [weak self] in
                self?.on($0)
            } onGap: { [weak self] in
                self?.onGap($0)
            },
            try relay.follow(Relocation1.self, asking: Contents()) { [weak self] reply in
                self?.lines = reply.boxes.map(\.title)
            } then: { [weak self] event in
                self?.on(event)
            } onFailure: { [weak self] error in
                self?.lines.append(error.message)
            },
            try relay.follow(Relocation1.self, pages: Contents(limit: 5)) { pages in
                print(pages.count)
            } then: { event, stamp in
                print(stamp.sequence, event)
            } onFailure: {
                print($0)
            },
        ]
    }
    func later(_ relay: EventRelay) {
        Task {
            try relay.subscribe(self, to: Relocation1.self) {
                $0.on($1)
            } onGap: {
                $0.onGap($1)
            }
            let one = try relay.follow(Relocation1.self, asking: Contents()) {
                self.lines = $0.boxes.map(\.title)
            } then: {
                self.on($0)
            } onFailure: { _ in
            }
            subscriptions.append(one)
        }
    }
}
actor Counter {
    var count = 0
    var held: Subscription?
    func start(_ relay: EventRelay) throws {
        try relay.subscribe(self, to: Relocation1.self, from: .resuming("counter")) { me, event in
            me.count += 1
        } onGap: { me, gap in
            me.count = 0
        }
        held = try relay.subscribe(to: Relocation1.self) { event in
            self.count += 1
        } onGap: { gap in
            self.count = 0
        }
    }
}
func follow(_ relay: EventRelay) throws -> Subscription {
    try relay.follow(Relocation1.self, asking: Contents()) {
        print($0.sequence)
    } then: {
        print($0)
    } onFailure: {
        print($0.message)
    }
}
func stream(_ relay: EventRelay) async throws {
    for await delivery in try relay.events(of: Relocation1.self, from: .beginning) {
        switch delivery {
        case .event(.boxRemoved(let box), let stamp): print(box.boxID, stamp.sequence)
        case .event(let other, _): print(other)
        case .gap(let gap): print(gap)
        }
    }
}
func ignore(_ relay: EventRelay) throws -> [Subscription] {
    [
        try relay.subscribe(to: Relocation1.self) {
            print($0)
        } onGap: { _ in
        },
        try relay.subscribe(to: BoxRemoved.self) {
            print($0.boxID)
        } onGap: { _ in
        },
    ]
}
func detached(_ relay: EventRelay) {
    Task { @MainActor in
        let view = View()
        try view.start(relay)
    }
    Task.detached {
        let one = try relay.subscribe(to: Relocation1.self, from: .now) {
            print($0)
        } onGap: {
            print($0)
        }
        one.cancel()
    }
}
