/// How long an interface's events live.
public protocol InterfaceDurability: Sendable {}
