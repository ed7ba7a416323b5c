public import RelayEvents

/// A drawing that people edit. Two canvases of the same title are two: its number is its identity.
public struct Canvas: Sendable, Identifiable {
    public struct ID: Hashable, Sendable { let number: Int }
    public let id: ID
    public let title: String
    public var strokes: [String] = []

    public init(number: Int, title: String) { (id, self.title) = (ID(number: number), title) }
}

/// A canvas is in a file. Events say whose they are: everyone who shares the publisher gets them all.
public struct CanvasSaved: Event, Equatable {
    public let canvas: Canvas.ID
    public let file: String
}
/// A canvas could not be written.
public struct SavingCanvasFailed: Event, Equatable {
    public let canvas: Canvas.ID
    public let file: String
    public let reason: String
}
