/** placeholder */
export {}
