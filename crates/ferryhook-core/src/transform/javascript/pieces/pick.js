[typeof handler === 'function' ? handler : undefined, typeof transform === 'function' ? transform : undefined]
