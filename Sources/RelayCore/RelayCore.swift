// A front end or a service imports RelayCore alone: what it publishes and subscribes to comes with it.
@_exported public import RelayBus
@_exported public import RelayEvents
