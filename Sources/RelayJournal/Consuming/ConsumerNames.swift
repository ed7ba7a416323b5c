import RelayCore
import Synchronization

/// The names of a journal's consumers that run: each position has one.
final class ConsumerNames: Sendable {
    private let names = Mutex<Set<String>>([])

    func take(_ name: String, _ path: String) throws(RelayError) {
        if names.withLock({ $0.insert(name).inserted }) { return }
        throw RelayError(.conflict, "the consumer '\(name)' of \(path) runs already: end its subscription first")
    }
    func release(_ name: String) { _ = names.withLock { $0.remove(name) } }
}
