public import RelayCore

/// An event of `Relocation1`.
public nonisolated protocol RelocationEvent: DomainEvent, Equatable where Interface == Relocation1 {}
