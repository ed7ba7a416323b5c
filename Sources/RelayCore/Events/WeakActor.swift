/// An actor that is not kept alive.
final class WeakActor: Sendable {
    private weak let reference: (any Actor)?
    init(_ actor: any Actor) { reference = actor }
    var actor: (any Actor)? { reference }
}
