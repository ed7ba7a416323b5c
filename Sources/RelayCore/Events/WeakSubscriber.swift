/// A subscriber object, held weakly, with its type.
final class WeakSubscriber<S: EventSubscriber>: WeakReference, @unchecked Sendable {
    private weak let subscriber: S?
    init(_ subscriber: S) {
        self.subscriber = subscriber
        super.init(subscriber)
    }
    nonisolated(nonsending) override func deliver(_ box: AnyEventBox) async {
        await subscriber?.on(EventBox<S.Subscribed>.value(in: box))
    }
    nonisolated(nonsending) override func deliver(_ gap: Gap) async { await subscriber?.onGap(gap) }
}
