/// An object that shows a document. It is called with the present state, then with each change.
///
/// The document holds it weakly.
///
/// ```swift
/// @MainActor final class BoxList: DocumentView {
///     func show(_ inventory: Inventory) { rows = inventory.boxes.map(\.label) }
/// }
/// document.addView(list, key: "list")
/// ```
///
/// The requirement is `async` and the protocol is not `Sendable`, so that `@MainActor` classes, actors and plain
/// classes can conform, each with an ordinary synchronous `show(_:)`. Mark a `show(_:)` that is itself `async` with
/// `@MainActor`: in this case, Swift does not infer the isolation of the class.
///
/// - Order: that of the changes. The next change waits until `show(_:)` has returned. An object has its own order: it
///   delays no other view on the same actor, and none delays it.
/// - Loss: a view that is more than 64 states behind sees only the newest ones. The latest state always arrives.
public protocol DocumentView<State>: AnyObject {
    /// The type of state that it can show.
    associatedtype State: Sendable
    /// Is called with the present state, and with each state after it.
    ///
    /// - Parameter state: the state.
    nonisolated(nonsending) func show(_ state: State) async
}

/// A state on its way to a view, by the same paths as an event.
struct ShownState<State: Sendable>: Event { let state: State }

/// A view object, held weakly, with what it shows. It is called on the actor that added it, or anywhere if it is
/// `Sendable`.
///
/// A class without the object's type, because a closure may not capture the metatype of a type that is not sendable.
package class WeakReceiver<State: Sendable>: WeakReference, @unchecked Sendable {
    /// False: the object is gone.
    package nonisolated(nonsending) func deliver(_ state: State) async -> Bool { false }
}

/// A view object, held weakly, with its type.
package final class WeakView<V: DocumentView>: WeakReceiver<V.State>, @unchecked Sendable {
    private weak let view: V?
    init(_ view: V) {
        self.view = view
        super.init(view)
    }
    package nonisolated(nonsending) override func deliver(_ state: V.State) async -> Bool {
        guard let view else { return false }
        await view.show(state)
        return true
    }
}
