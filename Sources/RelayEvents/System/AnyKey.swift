/// Any hashable value that may be shared.
package struct AnyKey: Hashable, @unchecked Sendable {  // Made from sendable values only.
    private let value: AnyHashable
    package init(_ value: some Hashable & Sendable) { self.value = AnyHashable(value) }
}
