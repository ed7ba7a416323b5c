// expect: main actor-isolated property 'text' can not be mutated from a Sendable closure
import RelayEvents
@MainActor final class Label {
    var text = ""
    func start(_ document: LocalDocument<Int>) {
        document.addView(key: "label", delivery: .queue(.main)) { [weak self] in self?.text = "\($0)" }
    }
}
